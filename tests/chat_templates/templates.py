"""Templates in heed's own words, which together have what templates of chats are made of. What comes of them is in cases.json."""

NAMES = {
    "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": " Größe ﬁ\n"},
                 {"role": "assistant", "content": "It's \"so\""}],
    "n": 7, "f": 2.5, "t": True, "z": None, "s": "Hello World, hello", "l": [3, 1, 2],
    "d": {"b": 1, "A": [1, 2], "c": {"x": None}}, "words": ["b", "A", "c", "a"],
    "dicts": [{"n": 1, "r": "x", "q": {"w": 5}}, {"n": 2, "r": "y", "q": {"w": 4}}, {"r": "x", "q": {}}],
}

# One a line; each is printed.
EXPRESSIONS = r"""
1 + 2 * 3 - 4 / 2
7 // 2
-7 // 2
7 % 3
-7 % 3
7 % -3
2 ** 3 ** 2
-2 ** 2
2.0
1e16
1e15
0.1 + 0.2
1.5e-7
3 / 2
10 / 5
true + 1
1 == 1.0
1 == true
'a' == 'a' == 'a'
1 < 2 < 3
1 < 2 > 3
not 1 == 2
not 1 in l
1 not in l
3 in l and 4 not in l
'ell' in s
'b' in d
z is none
undefd is defined
undefd is undefined
undefd.x is defined
d.nope is defined
d.nope
d['b']
d.A[0]
d.keys() | list
d.values() | list
d | length
s | length
undefd | length
undefd
undefd ~ 'x'
undefd + 'x'
'x' + undefd
undefd == undefd2
undefd or 'x'
undefd and 'x'
'a' or 'b'
'' or 'b'
[] or {}
1 ~ 2 ~ 'c' ~ none ~ true
[1, 'a', "it's", 'q"', "b'\"", none, true, 1.0, (1,), (), {}, {'a': 1}]
('a', 'b')
(1)
(1, 2)
1, 2
'\n\t\\x'
['\n\t\\', '\x07', 'é', '\u200b', '\xa0']
'abc'[0]
'abc'[-1]
'abc'[5]
'abc'[5] is defined
'Größe'[2]
'Größe'[::-1]
'Größe'[1:3]
'Größe'[:-1]
'Größe'[-3:]
l[1:]
l[::-1]
l[-2:]
l[::2]
l[5:]
l[-10:2]
l[2:0:-1]
l[1:1]
l[:]
l[::0]
d[1:2]
n[1:2]
s[100:]
s.upper()
s.lower()
s.title()
"they're bill's".title()
"they're bill's" | title
'foo-bar (baz) [q] <w>' | title
s.capitalize()
s | capitalize
s.split()
s.split(' ')
s.split(', ')
s.split(' ', 1)
s.split(maxsplit=1)
'  a  b  c  '.split(none, 1)
'  a  b  c  '.rsplit(none, 1)
'  a b '.split()
''.split()
''.split(',')
s.rsplit(' ', 1)
s.split('')
s.splitlines()
'a\nb\r\nc\rd\u2028e'.splitlines()
'a\nb\n'.splitlines(true)
s.startswith('Hell')
s.startswith(('x', 'H'))
s.startswith(['H'])
s.endswith('hello')
s.endswith(('x', 'o'))
s.strip('Ho')
'xxaxx'.lstrip('x')
'xxaxx'.rstrip('x')
'  a \n'.strip() ~ '|'
'\u00a0a\u3000'.strip() ~ '|'
'\u200ba'.strip() | length
s.replace('l', 'L')
s.replace('l', 'L', 2)
'abc'.replace('', '-')
'abc'.replace('', '-', 2)
'' .replace('', '-')
s.find('o')
s.find('zzz')
s.rfind('o')
s.find('o', 5)
s.find('o', -3)
s.count('l')
s.count('')
s.index('W')
s.index('zzz')
','.join(['a', 'b'])
','.join([1])
','.join('abc')
'a-b-c'.partition('-')
'a-b-c'.rpartition('-')
'abc'.partition('-')
'abc'.rpartition('-')
'abc'.removeprefix('a').removesuffix('c')
'12'.isdigit()
'1a'.isdigit()
''.isdigit()
'ab'.isalpha()
'ab1'.isalnum()
' '.isspace()
'AB1'.isupper()
'ab1'.islower()
'12'.isupper()
'7'.zfill(3)
'-7'.zfill(4)
'{} and {}'.format(1, 'b')
'{1} and {0}'.format(1, 'b')
'{a} {{}}'.format(a=5)
'%s is %d and %.2f' % ('a', 3, 1.234)
'%s' % 'x'
'%05d|%-5s|%5s|%x|%+d|%%' % (42, 'ab', 'cd', 255, 3)
'%s %s' % ('a',)
'%s' | format('q')
'%r' % ('q',)
s.nope
s.nope()
s.nope is defined
l.append(1)
l.append is defined
l.count(1)
l.index(2)
l.index(9)
d.get('b')
d.get('nope')
d.get('nope', 5)
d.update({'a': 1})
d.pop('b')
d.pop is defined
d.copy()
d.__class__
d.__class__ is defined
s.__len__()
''.__class__.__mro__
s | trim
' a ' | trim
'xax' | trim('x')
s | upper
s | lower
'ß' | upper
'ΑΣ' | lower
s | replace('l', 'L')
s | replace('l', 'L', 1)
n | replace(7, 8)
l | first
l | last
[] | first
[] | first is defined
[] | last
'abc' | first
'abc' | last
l | join
l | join(', ')
l | join(', ') | upper
dicts | join('-', attribute='n')
dicts | map(attribute='n') | list
dicts | map(attribute='n', default=9) | list
dicts | map(attribute='q.w', default=9) | list
dicts | map(attribute='q.w') | list
words | map('upper') | list
words | map('replace', 'a', 'x') | join
l | map('string') | join(',')
dicts | selectattr('n') | list
dicts | selectattr('n', 'defined') | list
dicts | selectattr('r', 'equalto', 'x') | map(attribute='n') | list
dicts | selectattr('r', '==', 'x') | list | length
dicts | rejectattr('r', 'eq', 'x') | list
dicts | rejectattr('n', 'undefined') | list | count
l | select('odd') | list
l | reject('odd') | list
l | select('gt', 1) | list
[0, 1, '', none] | select | list
[0, 1, '', none] | reject | list
l | select('divisibleby', 2) | list
l | select('in', [1, 5]) | list
l | select('nope') | list
l | map('nope') | list
l | sort
words | sort
words | sort(case_sensitive=true)
words | sort(reverse=true)
dicts | sort(attribute='r') | map(attribute='r') | list
[1, 'a'] | sort
l | reverse | list
'abc' | reverse
words | unique | list
['a', 'A', 'b'] | unique | list
['a', 'A', 'b'] | unique(true) | list
l | min
l | max
words | max
[] | max
l | sum
dicts | selectattr('n', 'defined') | sum(attribute='n')
[1.5, 2] | sum
d | dictsort
d | dictsort(false, 'value')
{'b': 2, 'A': 1} | dictsort
{'b': 2, 'A': 3} | dictsort(by='value')
{'b': 2, 'A': 3} | dictsort(reverse=true)
d | items | list
undefd | items | list
l | items | list
d | list
'abc' | list
(1, 2) | list
l | batch(2) | list
l | batch(2, 'x') | list
undefd | default('x')
z | default('x')
z | default('x', true)
'' | default('x', boolean=true)
undefd | d
undefd.x | default('y')
d.nope | default('y')
'12' | int
'12.7' | int
'x' | int
'x' | int(5)
'ff' | int(0, 16)
' 12 ' | int
2.9 | int
-2.9 | int
none | int
true | int
'1.5' | float
'x' | float
'1e3' | float
n | float
2.5 | round
3.5 | round
2.345 | round(2)
2.1 | round(method='ceil')
2.9 | round(0, 'floor')
5 | round
-3 | abs
-2.5 | abs
n | string | length
l | string
d | tojson
d | tojson(indent=2)
l | tojson(indent=2)
[] | tojson(indent=2)
{} | tojson(indent=2)
'é"\n\x01/<>\'' | tojson
1.0 | tojson
none | tojson
undefd | tojson
[true, none, 1, 2.5, 'a', (1, 2)] | tojson
{1: 'a', none: 'b', true: 'c'} | tojson
{'a': {'b': [1, {'c': 2}]}} | tojson(indent=4)
'<a href="x">&\'' | escape
'<a>' | e
'<a>' | safe
'a\nb\n\nc' | indent
'a\nb\n\nc' | indent(2)
'a\nb\n\nc' | indent(2, true)
'a\nb\n\nc' | indent(2, true, true)
'a\nb\n\nc' | indent(width='> ', first=true)
'' | indent
'a' | indent(first=true)
'a\n' | indent ~ '|'
d | attr('b')
l | nope
1 is nope
1 is odd
2 is even
'a' is odd
1 is divisibleby 2
4 is divisibleby(2)
'a' is string
d is mapping
l is mapping
l is sequence
s is sequence
d is sequence
z is sequence
undefd is sequence
l is iterable
s is iterable
n is iterable
z is iterable
undefd is iterable
(l | map('string')) is iterable
(l | map('string')) is sequence
n is number
f is number
t is number
n is integer
t is integer
f is float
n is float
t is boolean
n is boolean
t is true
t is false
1 is true
1 is eq 1
1 is equalto(1)
1 is ne 2
1 is in l
1 is in [2]
'a' is in 'abc'
3 is gt 2
3 is lt 2
3 is ge 3
3 is le 2
'a' is lower
'A1' is upper
'1' is lower
'1' is upper
s.upper is callable
range is callable
none is none
undefd is none
undefd is not defined
n is not none and n is number
1 is sameas 1
d is sameas d
'a' if true else 'b'
'a' if false else 'b'
'a' if false
('a' if false) is defined
('a' if false) ~ 'x'
1 if 0 else 2 if 0 else 3
not true if true else 5
range(3) | list
range(1, 10, 3) | list
range(5, 0, -2) | list
range(3)[1]
range(1000000)
range(0, 5, 0)
range('a')
dict(a=1, b=2)
dict({'a': 1}, b=2)
dict([('a', 1)])
namespace(a=1).a
namespace(a=1).b is defined
namespace({'x': 5}).x
raise_exception('no ' ~ n)
[1, 2] + [3]
(1,) + (2,)
[1] + (2,)
'ab' * 3
[1] * 3
3 * 'ab'
'a' * -1
'a' - 'b'
'a' + 1
none + 1
1 < 'a'
[1, 2] < [1, 3]
[1] == [1.0]
{'a': 1} == {'a': 1.0}
(1,) == [1]
'a' < 'b'
none == false
1 / 0
1 // 0
1 % 0
1.0 // 0.3
5.5 % 2
-5.5 % 2
2 ** -1
2 ** 0.5
9223372036854775807
99999999 * 99999999
+5
-'a'
- 3 | abs
-f
1_000
1.5
.5
1.
'a' 'b' "c"
'a' ~ 'b' | upper
('a' ~ 'b') | upper
'a' + 'b' | upper
n.bit
z.foo
z.foo is defined
z.foo.bar
none['x']
none()
n()
'a'()
messages[0].role
messages[0]['role']
messages[-1].content
messages[10]
messages[10].role
messages | map(attribute='role') | list
messages | map(attribute='role') | join(', ')
(messages | map(attribute='role'))[0]
(messages | selectattr('role', 'equalto', 'nope')) and 'yes'
(messages | selectattr('role', 'equalto', 'user') | list)[0].content
(messages | selectattr('role', 'equalto', 'user') | first).content
messages | length > 2
messages|length - 1
messages[1:] | length
messages[1].content | trim | length
(1, 2)[0]
{'a': 1}.a
{'a': 1}['a']
{'a': {'b': 2}}.a.b
{'items': 5}['items']
{'get': 5}['get']
{1: 'x'}[1]
{'a': 1,}
[1, 2,]
{[1]: 2}
[x for x in l]
lambda: 1
True and False or None
TRUE
true is true is false
'a' in ['a'] == true
1 in [1] in [[1]]
loop is defined
caller is defined
varargs is defined
'\u00e9\x41\101'
'\q'
'it''s'
"a" in "abc" and "d" not in "abc"
d.c.x is none
d['c']['x']
d.get('c').get('x')
f | int ~ 'x'
n if n > 5 else 'small'
(n, f) | join('-')
s.split(' ')[0][0]
s.split(' ') | map('length') | list
s.split() | map('upper') | join(' ')
[[1, 2], [3]] | map('first') | list
[[1, 2], [3]] | sum(start=[])
[3, 1] | sort | first
l | sort(reverse=True) | first
d.items() | list | length
d | dictsort | map('first') | list
words | map('lower') | sort | unique | join(',')
'a,b;c' | replace(',', ';') | list | length
l | tojson | length
1 if l else 2
'x' if not l and d else 'y'
s is string and s | length > 3
s is string and (s | length) > 3
not s is string
not undefd
-1 in [-1]
2 in (1, 2)
'a' not in {'a': 1}
{'a': 1} | length == 1
'größe'.title()
2.5 is odd
2.5 is even
none | map('upper') | list
0 | selectattr('a') | list
undefd is callable
undefd | indent
n | indent
t | round
dicts | unique | list
[1] in {1: 2}
undefd in {1: 2}
'  a  b  c  '.rsplit(none, 1)
"""

STATEMENTS = [
    'a\n{% if true %}\nb\n{% endif %}\nc\n',
    '  {% if true %}  \n  b  {% endif %}  \n c',
    'a {%- if true -%} b {%- endif -%} c',
    'a\n  {%+ if true %}b{% endif +%}\nc',
    'a\n\n  {{- 1 -}}  \n\n b',
    'a {# c #} b\n  {# d #}\ne {#- f -#} g',
    '{#\n multi {{ x }} {% y %}\n#}\nx',
    'x\n\n',
    'x\r\ny\rz\r\n',
    '{% raw %}{{ x }}{% y %}{% endraw %}z',
    'a\n  {% raw %}\n  b\n  {% endraw %}\nc',
    'a {%- raw -%} b {%- endraw -%} c',
    "{{ '}}' }}{{ '%}' }}{{ {'a':{'b':1}} }}",
    "{{ '{{' }}{ {x} {",
    '{',
    'a{',
    '{{',
    '{{ 1',
    '{% if',
    '{% if true %}',
    '{% endif %}',
    '{% foo %}',
    '{% for %}{% endfor %}',
    '{{ 1 }} {% else %}',
    '{# x',
    "{{ 'x }}",
    '{{ }}',
    '{{ ) }}',
    '{{ (1 }}',
    '{{ (1] }}',
    '{{ a b }}',
    '{{ 1 2 }}',
    '{{ $ }}',
    '{{ ! }}',
    '{% set x %}',
    '{% set %}',
    '{% set true = 1 %}',
    '{% set x = %}',
    '{% break %}',
    '{% for x in l %}{% endif %}{% endfor %}',
    '{% if 1 %}a{% else %}b{% elif %}{% endif %}',
    "{% for x in l %}{{ x }}{{ ',' if not loop.last }}{% endfor %}",
    '{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.depth }};{% endfor %}',
    '{% for x in l %}[{{ loop.previtem }}|{{ x }}|{{ loop.nextitem }}]{% endfor %}',
    '{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{% endfor %}',
    "{% for x in l %}{{ loop.cycle('a','b') }}{% endfor %}",
    '{% for x in l %}{% for y in words %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}',
    '{% for x in l if x > 1 %}{{ x }}{{ loop.length }}{% endfor %}',
    '{% for x in l if x > 10 %}{{ x }}{% else %}none{% endfor %}',
    '{% for x in [] %}{% else %}e{% endfor %}',
    '{% for x in undefd %}x{% else %}e{% endfor %}',
    '{% for x in z %}x{% endfor %}',
    '{% for x in n %}x{% endfor %}',
    "{% for c in 'Grö' %}{{ c }}.{% endfor %}",
    '{% for k in d %}{{ k }}{% endfor %}',
    '{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}',
    '{% for k, v in d|items %}{{ k }}={{ v }};{% endfor %}',
    '{% for k, v in d|dictsort %}{{ k }}={{ v }};{% endfor %}',
    '{% for (k, v) in d.items() %}{{ k }}{% endfor %}',
    '{% for a, b in [[1,2],[3,4]] %}{{ a + b }}{% endfor %}',
    '{% for a, b in [[1,2,3]] %}{{ a + b }}{% endfor %}',
    '{% for a, b in [1] %}{{ a + b }}{% endfor %}',
    '{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}',
    '{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}',
    '{% for x in 1, 2, 3 %}{{ x }}{% endfor %}',
    '{% for x in l %}{% set y = x %}{% endfor %}{{ y }}|{{ x }}',
    '{% set y = 0 %}{% for x in l %}{% set y = y + x %}{{ y }}{% endfor %}{{ y }}',
    '{% set ns = namespace(t=0) %}{% for x in l %}{% set ns.t = ns.t + x %}{% endfor %}{{ ns.t }}',
    '{% set ns = namespace() %}{% set ns.a = 1 %}{% set ns.b = ns.a + 1 %}{{ ns.a }}{{ ns.b }}{{ ns.c }}',
    '{% set d.x = 1 %}{{ d }}',
    '{% set q.x = 1 %}',
    '{% set a, b = 1, 2 %}{{ a }}{{ b }}',
    '{% set a, b = l %}{{ a }}{{ b }}',
    '{% set x = 1, 2 %}{{ x }}',
    '{% set x %}a{{ n }}b{% endset %}{{ x }}|{{ x | length }}',
    '{% set x | upper | trim %} a{{ n }}b {% endset %}{{ x }}',
    '{% set ns = namespace() %}{% set ns.x %}q{% endset %}{{ ns.x }}',
    '{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}',
    '{% if false %}{% set x = 2 %}{% endif %}{{ x }}',
    '{% filter upper %}a{{ n }}b{% endfilter %}',
    "{% filter replace('a', 'b') | upper %}aXa{% endfilter %}",
    '{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}',
    '{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}',
    '{% with a = 1, b = a %}{{ b }}{% endwith %}',
    "{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, c='y') }}|{{ m() }}|{{ m(b=5, a=n) }}",
    '{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}',
    '{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}',
    '{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}',
    '{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}',
    '{% macro m(a=1, b) %}{% endmacro %}',
    '{% macro m() %}{{ n }}{{ later }}{% endmacro %}{% set later = 5 %}{{ m() }}',
    '{% macro f(k) %}{% if k > 0 %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(5) }}',
    '{% macro m() %}  a \n{% endmacro %}{{ m() | trim }}|{{ m() | length }}',
    '{% macro m(x) %}{% for y in x %}{{ y }}{% endfor %}{% endmacro %}{% for q in [l, words] %}{{ m(q) }}{% endfor %}',
    '{% macro m(x) %}[{{ caller() }}]{{ x }}{% endmacro %}{% call m(3) %}in{{ n }}{% endcall %}',
    '{% macro m(x) %}[{{ caller(5) }}]{% endmacro %}{% call(q) m(3) %}in{{ q }}{% endcall %}',
    '{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}',
    '{% macro m(a) -%} {{ a }} {%- endmacro %}x{{ m(1) }}y',
    '{% macro m() %}{% set x = 5 %}{{ x }}{% endmacro %}{% set x = 1 %}{{ m() }}{{ x }}',
    '{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}',
    '{{ m }}',
    '{{ m() }}',
    '{% macro m(*a) %}{% endmacro %}',
    "{% set a = [1,2] %}{{ dict(*[[('x', 1)]]) }}{{ dict(**{'y': 2}) }}",
    '{% if n > 5 and s %}a{% elif t %}b{% else %}c{% endif %}',
    '{% if undefd %}a{% elif not undefd %}b{% endif %}',
    '{% if undefd.x %}a{% endif %}',
    '{% generation %}abc{% endgeneration %}',
    "{% for m in messages %}\n{{ m.role }}:\n{%- if m.role == 'user' %}\n U {{ m['content'] | trim }}\n{%- endif %}\n{% endfor %}\nend",
    "{%- for m in messages -%}\n    {{- '<|' + m['role'] + '|>' }}\n    {{ m['content'] }}\n{% endfor -%}\nend",
    '\n\n  {%- set x = 1 %}\n  {{- x }}\n  {{ x -}}\n  y\n',
    "{% set x = {'a': [1, {'b': 'c'}]} %}{{ x.a[1].b }}{{ x['a'][0] }}",
    '{%set x=1%}{{x}}{%-set y=2-%}{{y}}',
    '{% if (n is defined and n) or false %}y{% endif %}',
    "{{ [1,2,3]|map('string')|join(',')|replace(',',';') }}",
    "{% set it = l | map('string') %}{{ it | list }}{{ it | list }}",
    "{% for m in messages if m.role != 'system' %}{{ loop.index }}{{ m.role }}{% endfor %}",
    '{% for m in messages[1:] %}{{ loop.index0 % 2 == 0 }}{% endfor %}',
    "{{ messages[0].content if messages[0].role == 'system' else '' }}",
    "{% set offset = 1 if messages[0]['role'] == 'system' else 0 %}{{ offset }}",
    "{% if ('a' in 'abc') != (n % 2 == 0) %}x{% endif %}",
    "{% include 'x' %}",
    '{{ 1\n+\n2 }}\n{{ undefd.x }}',
    '{{ x.0 }}{{ l.0 }}{{ l.1 }}',
    '{%\n if true\n%}\na{% endif %}',
    'a  \n  {{ 1 }}  \n  {% if 1 %}\n  x\n  {% endif %}  \n  y',
    '{% if 1 %}{% endif %}\n\nx',
    '\t{% if 1 %}\tx\t{% endif %}\t\ny',
    '{{ "a\\"b" }}{{ \'a\\\'b\' }}',
    "{{ '\\u4f60' }}",
    '{{\'a\'}}{{"b"}}{{-\'c\'-}}',
    "{{- 'a' -}}{{+ 1 }}",
    '{% if not loop is defined %}x{% endif %}',
    '{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(messages|length) %}{{ messages[i].role }}{% endfor %}',
    '{% set l2 = l + [9] %}{{ l2 }}{{ l }}',
    '{% for x in l | sort %}{{ x }}{% endfor %}{% for x in l | reverse %}{{ x }}{% endfor %}',
    '{% for x in (l if true else []) %}{{ x }}{% endfor %}',
    '{% do l.append(1) %}',
    '{% set _ = l.append(1) %}',
    '{% trans %}x{% endtrans %}',
    "{% from 'a' import b %}",
    '{{ super() }}',
    '{% if true %}{% set ns = namespace(a=[]) %}{% set ns.a = ns.a + [1] %}{{ ns.a }}{% endif %}',
    "{{ {'a': undefd} }}{{ [undefd] }}",
    '{{ (undefd,) }}',
    '{{ true }} {{ false }} {{ none }} {{ True }} {{ None }}',
    "{% set ns=namespace(x='') %}{% for m in messages %}{% if m.role=='system' %}{% set ns.x = m.content %}{% endif %}{% endfor %}{{ ns.x }}",
    '{% for x in l %}\n  {% if loop.first %}\n    first\n  {% else %}\n    other {{ x }}\n  {% endif %}\n{% endfor %}\n',
    "{{ 'a' if n > 5 }}{{ 'b' if n > 50 }}",
    '{{ 5 is odd and 4 is even }}',
    '{{ messages | tojson }}',
    '{{ messages | tojson(indent=2) }}',
    "{% set x = messages | selectattr('role', 'equalto', 'user') | list %}{{ x | length }}{{ x[0].content }}",
    '{{ n is divisibleby 7 and 1 }}',
    "{{ 'x' is defined or 1 }}",
    "{{ s is in 'Hello World, hello!' }}",
    '{% if n is number and f is float %}ok{% endif %}',
    "{{ 'a\\\nb' }}",
]
