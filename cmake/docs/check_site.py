"""Fails where a link of the built site leads nowhere, or a page loads something from elsewhere:
    python3 check_site.py SITE
SPDX-License-Identifier: MIT
"""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.names, self.links, self.loads = {""}, [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.names.update(filter(None, (of.get("id"), of.get("name") if tag == "a" else None)))
        if tag == "a" and of.get("href"):
            self.links.append(of["href"])
        elif of.get(LOADED.get(tag)):
            self.loads.append(of[LOADED[tag]])


site = Path(sys.argv[1]).resolve()
pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
links, faults = 0, []
for path, page in pages.items():
    for link in page.links + page.loads:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            if link in page.loads and url.scheme != "data":
                faults.append(f"{path.relative_to(site)}: loads {link} from elsewhere")
            continue
        links += 1
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if path.name == "404.html":
            target = site / unquote(url.path).lstrip("/")
        if target.is_dir():
            target = target / "index.html"
        there = target.is_file()
        if not there or target in pages and unquote(url.fragment) not in pages[target].names:
            faults.append(f"{path.relative_to(site)}: {link} leads nowhere")
for style in site.rglob("*.css"):
    if "url(http" in (text := style.read_text()) or "@import" in text:
        faults.append(f"{style.relative_to(site)}: loads a style or a font from elsewhere")

print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
print(f"site: {len(pages)} pages, {links} links, {len(faults)} of them broken or from elsewhere")
sys.exit(1 if faults else 0)
