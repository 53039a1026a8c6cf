"""The Python of heed's pages that needs no torch."""

import unittest

from page_blocks import PAGES, run_page


class Pages(unittest.TestCase):
    def test_do_what_they_say(self):
        for page in PAGES:
            with self.subTest(page):
                self.assertGreater(run_page(self, page, with_torch=False), 0)


if __name__ == "__main__":
    unittest.main()
