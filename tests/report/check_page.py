#!/usr/bin/env python3
"""Fails for a page that is not well-formed, refers to the network, or has a number that is none.

    check_page.py PAGE
"""
import html.parser
import re
import sys
import xml.etree.ElementTree

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Balance(html.parser.HTMLParser):
    """Every element is closed, in order."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = {}

    def handle_starttag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        for name, value in attributes:
            assert not name.startswith("on"), f"{tag} has a handler {name}"
            assert name not in ("src", "href"), f"{tag} refers to {value}"
            assert value is None or not re.search(r"\b(nan|inf)\b", value.lower()) or name.startswith("aria") \
                or name.startswith("data-name"), f"{tag} {name}={value}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    balance = Balance()
    balance.feed(text)
    balance.close()
    assert not balance.open, f"not closed: {balance.open}"
    assert balance.seen.get("script") == 1, "one script"
    markup = re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", markup), "the page names the network"
    body = markup[markup.index("<body>"):markup.index("</body>") + 7]
    tree = xml.etree.ElementTree.fromstring(body)
    charts = tree.findall(".//{http://www.w3.org/2000/svg}svg[@role='img']")
    print(len(charts), "charts")


if __name__ == "__main__":
    main()
