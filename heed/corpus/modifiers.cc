// Adjectives, adverbs, and fixed expressions of time and place.
#include <array>

#include "heed/corpus/lexicon.h"

namespace heed::grammar {
namespace {

constexpr Kinds kBig = kFurniture | kVehicle | kDevice;
constexpr Kinds kPlaces = kRoom | kBuilding | kOutdoors;
constexpr Kinds kColoured = kClothing | kPortable | kVehicle | kFurniture;

constexpr auto kAdjectives = std::to_array<Adjective>({
    {"groß", "groß", "big", kAnimal | kPortable | kBig | kPlaces | kFruit | kPlant, "größer", "größt", "bigger",
     "biggest"},
    {"klein", "klein", "small", kAlive | kPortable | kBig | kPlaces | kFruit | kPlant, "kleiner", "kleinst", "smaller",
     "smallest"},
    {"alt", "alt", "old", kAlive | kThing | kPlaces, "älter", "ältest", "older", "oldest"},
    {"jung", "jung", "young", kAlive, "jünger", "jüngst", "younger", "youngest"},
    {"neu", "neu", "new", kThing | kProfession | kShow | kTask, "neuer", "neuest", "newer", "newest"},
    {"schön", "schön", "beautiful", kAnimal | kThing | kPlaces | kPlant | kShow, "schöner", "schönst", "more beautiful",
     "most beautiful"},
    {"hässlich", "hässlich", "ugly", kClothing | kPortable | kBuilding | kBig, "hässlicher", "hässlichst", "uglier",
     "ugliest"},
    {"müde", "müd", "tired", kAlive, "müder", "", "more tired", ""},
    {"glücklich", "glücklich", "happy", kPerson, "glücklicher", "glücklichst", "happier", "happiest"},
    {"traurig", "traurig", "sad", kPerson | kStory | kShow, "trauriger", "traurigst", "sadder", "saddest"},
    {"krank", "krank", "sick", kAlive},
    {"gesund", "gesund", "healthy", kAlive | kFruit},
    {"stark", "stark", "strong", kAlive, "stärker", "stärkst", "stronger", "strongest"},
    {"schwach", "schwach", "weak", kAlive, "schwächer", "schwächst", "weaker", "weakest"},
    {"freundlich", "freundlich", "friendly", kAlive, "freundlicher", "freundlichst", "friendlier", "friendliest"},
    {"nett", "nett", "nice", kPerson, "netter", "nettest", "nicer", "nicest"},
    {"klug", "klug", "clever", kAlive, "klüger", "klügst", "cleverer", "cleverest"},
    {"faul", "faul", "lazy", kAlive, "fauler", "faulst", "lazier", "laziest"},
    {"fleißig", "fleißig", "hard-working", kPerson, "fleißiger", "fleißigst", "more hard-working", "most hard-working"},
    {"reich", "reich", "rich", kPerson, "reicher", "reichst", "richer", "richest"},
    {"arm", "arm", "poor", kPerson, "ärmer", "ärmst", "poorer", "poorest"},
    {"berühmt", "berühmt", "famous", kPerson | kBuilding | kReadable, "berühmter", "berühmtest", "more famous",
     "most famous"},
    {"wütend", "wütend", "angry", kPerson},
    {"nervös", "nervös", "nervous", kPerson, "nervöser", "", "more nervous", ""},
    {"höflich", "höflich", "polite", kPerson, "höflicher", "höflichst", "more polite", "most polite"},
    {"mutig", "mutig", "brave", kAlive, "mutiger", "mutigst", "braver", "bravest"},
    {"ruhig", "ruhig", "quiet", kPerson | kPlaces, "ruhiger", "ruhigst", "quieter", "quietest"},
    {"laut", "laut", "loud", kPerson | kVehicle | kShow, "lauter", "lautest", "louder", "loudest"},
    {"hungrig", "hungrig", "hungry", kAlive, "hungriger", "", "hungrier", ""},
    {"schnell", "schnell", "fast", kAnimal | kVehicle, "schneller", "schnellst", "faster", "fastest"},
    {"langsam", "langsam", "slow", kAlive | kVehicle, "langsamer", "langsamst", "slower", "slowest"},
    {"wild", "wild", "wild", kAnimal, "wilder", "wildest", "wilder", "wildest"},
    {"gefährlich", "gefährlich", "dangerous", kAnimal | kVehicle, "gefährlicher", "gefährlichst", "more dangerous",
     "most dangerous"},
    {"teuer", "teur", "expensive", kThing | kRoom | kBuilding, "teurer", "teuerst", "more expensive", "most expensive"},
    {"billig", "billig", "cheap", kThing | kFood | kDrink, "billiger", "billigst", "cheaper", "cheapest"},
    {"schwer", "schwer", "heavy", kPortable | kBig, "schwerer", "schwerst", "heavier", "heaviest"},
    {"leicht", "leicht", "light", kPortable, "leichter", "leichtest", "lighter", "lightest"},
    {"rot", "rot", "red", kColoured},
    {"blau", "blau", "blue", kColoured},
    {"grün", "grün", "green", kColoured},
    {"gelb", "gelb", "yellow", kColoured},
    {"schwarz", "schwarz", "black", kColoured | kAnimal},
    {"weiß", "weiß", "white", kColoured | kAnimal | kPlant},
    {"braun", "braun", "brown", kColoured | kAnimal},
    {"grau", "grau", "grey", kColoured | kAnimal},
    {"frisch", "frisch", "fresh", kFood | kDrink, "frischer", "frischest", "fresher", "freshest"},
    {"warm", "warm", "warm", kDish | kDrink | kClothing | kRoom, "wärmer", "wärmst", "warmer", "warmest"},
    {"kalt", "kalt", "cold", kDish | kDrink | kRoom, "kälter", "kältest", "colder", "coldest"},
    {"heiß", "heiß", "hot", kDish | kDrink, "heißer", "heißest", "hotter", "hottest"},
    {"süß", "süß", "sweet", kFruit | kBaked, "süßer", "süßest", "sweeter", "sweetest"},
    {"sauer", "saur", "sour", kFruit, "saurer", "", "sourer", ""},
    {"lecker", "lecker", "delicious", kFood, "leckerer", "leckerst", "more delicious", "most delicious"},
    {"reif", "reif", "ripe", kFruit, "reifer", "reifst", "riper", "ripest"},
    {"leer", "leer", "empty", kContainer | kRoom},
    {"voll", "voll", "full", kContainer, "voller", "vollst", "fuller", "fullest"},
    {"sauber", "sauber", "clean", kContainer | kClothing | kRoom | kVehicle, "sauberer", "sauberst", "cleaner",
     "cleanest"},
    {"schmutzig", "schmutzig", "dirty", kContainer | kClothing | kRoom | kVehicle, "schmutziger", "schmutzigst",
     "dirtier", "dirtiest"},
    {"kaputt", "kaputt", "broken", kDevice | kVehicle | kFurniture},
    {"nass", "nass", "wet", kClothing | kAnimal},
    {"trocken", "trocken", "dry", kClothing},
    {"modern", "modern", "modern", kBuilding | kBig, "moderner", "modernst", "more modern", "most modern"},
    {"dunkel", "dunkl", "dark", kRoom | kOutdoors, "dunkler", "dunkelst", "darker", "darkest"},
    {"hell", "hell", "bright", kRoom, "heller", "hellst", "brighter", "brightest"},
    {"lang", "lang", "long", kReadable | kStory | kShow, "länger", "längst", "longer", "longest"},
    {"kurz", "kurz", "short", kReadable | kStory | kShow, "kürzer", "kürzest", "shorter", "shortest"},
    {"interessant", "interessant", "interesting", kReadable | kStory | kShow | kTask, "interessanter", "interessantest",
     "more interesting", "most interesting"},
    {"langweilig", "langweilig", "boring", kReadable | kStory | kShow, "langweiliger", "langweiligst", "more boring",
     "most boring"},
    {"spannend", "spannend", "exciting", kReadable | kStory | kShow, "spannender", "spannendst", "more exciting",
     "most exciting"},
    {"lustig", "lustig", "funny", kPerson | kStory | kShow, "lustiger", "lustigst", "funnier", "funniest"},
    {"wichtig", "wichtig", "important", kWritten | kTask, "wichtiger", "wichtigst", "more important", "most important"},
    {"schwierig", "schwierig", "difficult", kTask, "schwieriger", "schwierigst", "more difficult", "most difficult"},
    {"einfach", "einfach", "simple", kTask | kDevice, "einfacher", "einfachst", "simpler", "simplest"},
    {"bequem", "bequem", "comfortable", kFurniture | kClothing, "bequemer", "bequemst", "more comfortable",
     "most comfortable"},
    {"gemütlich", "gemütlich", "cosy", kRoom, "gemütlicher", "gemütlichst", "cosier", "cosiest"},
    {"gut", "gut", "good", kFood | kDrink | kReadable | kShow | kProfession | kVehicle, "besser", "best", "better",
     "best"},
    {"schlecht", "schlecht", "bad", kShow | kReadable | kProfession, "schlechter", "schlechtest", "worse", "worst"},
    {"elegant", "elegant", "elegant", kClothing, "eleganter", "elegantest", "more elegant", "most elegant"},
});

constexpr std::uint32_t kNow = bit(Tense::kPresent);
constexpr std::uint32_t kThen = bit(Tense::kPast);
constexpr std::uint32_t kLater = bit(Tense::kFuture) | bit(Tense::kFutureByTime);
constexpr std::uint32_t kDone = bit(Tense::kPerfect);

const auto kTimes = std::to_array<Adverb>({
    {{"heute", "today"}, kNow | kThen},
    {{"jetzt", "now"}, kNow},
    {{"abends", "in the evening"}, kNow},
    {{"am:12 Nachmittag:3", "in:1 the:2 afternoon:3"}, kNow | kThen},
    {{"am:12 Morgen:3", "in:1 the:2 morning:3"}, kNow | kThen},
    {{"am:12 Abend:3", "in:1 the:2 evening:3"}, kNow | kThen},
    {{"in:1 der Nacht:2", "at:1 night:2"}, kNow | kThen},
    {{"heute:1 Abend:2", "this:1 evening:2"}, kLater},
    {{"jeden:1 Tag:2", "every:1 day:2"}, kNow | kThen},
    {{"jeden:1 Morgen:2", "every:1 morning:2"}, kNow | kThen},
    {{"jeden:1 Abend:2", "every:1 evening:2"}, kNow | kThen},
    {{"am:1 Wochenende:2", "at:1 the:1 weekend:2"}, kNow | kThen},
    {{"nach:1 dem:2 Essen:3", "after:1 the:2 meal:3"}, kNow | kThen},
    {{"vor:1 der:2 Arbeit", "before:1 work:2"}, kNow | kThen},
    {{"im:12 Sommer:3", "in:1 the:2 summer:3"}, kNow | kThen},
    {{"im:12 Winter:3", "in:1 the:2 winter:3"}, kNow | kThen},
    {{"im:12 Herbst:3", "in:1 the:2 autumn:3"}, kNow | kThen},
    {{"gestern", "yesterday"}, kThen},
    {{"gestern:1 Abend:2", "yesterday:1 evening:2"}, kThen},
    {{"vorgestern", "the day before yesterday"}, kThen},
    {{"letzte:1 Woche:2", "last:1 week:2"}, kThen},
    {{"letztes:1 Jahr:2", "last:1 year:2"}, kThen},
    {{"letzten:1 Sommer:2", "last:1 summer:2"}, kThen},
    {{"morgen", "tomorrow"}, kLater},
    {{"morgen:1 früh:2", "tomorrow:1 morning:2"}, kLater},
    {{"übermorgen", "the day after tomorrow"}, kLater},
    {{"bald", "soon"}, kLater},
    {{"nächste:1 Woche:2", "next:1 week:2"}, kLater},
    {{"nächstes:1 Jahr:2", "next:1 year:2"}, kLater},
});

const auto kFrequencies = std::to_array<Adverb>({
    {{"oft", "often"}, kNow | kThen},
    {{"immer", "always"}, kNow | kThen},
    {{"manchmal", "sometimes"}, kNow | kThen},
    {{"selten", "rarely"}, kNow | kThen},
    {{"nie", "never"}, kNow | kThen},
    {{"meistens", "usually"}, kNow},
    {{"schon", "already"}, kDone},
    {{"gerade", "just"}, kDone},
    {{"noch:1 nie:2", "never:2"}, kDone},
});

const auto kManners = std::to_array<Adverb>({
    {{"schnell", "quickly"}, kSpeed},
    {{"langsam", "slowly"}, kSpeed},
    {{"laut", "loudly"}, kSound},
    {{"leise", "quietly"}, kSound},
    {{"gut", "well"}, kQuality},
    {{"schlecht", "badly"}, kQuality},
});

const auto kFixedPlaces = std::to_array<Expression>({
    {"zu:1 Hause:2", "at:1 home:2"},
    {"hier", "here"},
    {"dort", "there"},
    {"draußen", "outside"},
    {"oben", "upstairs"},
});
const auto kFixedDirections = std::to_array<Expression>({
    {"nach:1 Hause:2", "home:2"},
});

}  // namespace

std::span<const Adjective> adjectives() { return kAdjectives; }
std::span<const Adverb> fixed_times() { return kTimes; }
std::span<const Adverb> frequencies() { return kFrequencies; }
std::span<const Adverb> manners() { return kManners; }
std::span<const Expression> fixed_places() { return kFixedPlaces; }
std::span<const Expression> fixed_directions() { return kFixedDirections; }

}  // namespace heed::grammar
