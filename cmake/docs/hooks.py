"""Lays out the repository as a site: README.md is its first page, sources are pages of code, and
each header with public names has a page of its own, to which the names in tables lead.
SPDX-License-Identifier: MIT
"""
import html
import posixpath
import re
from pathlib import Path

import material
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import reference

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp"}
MOON = Path(material.__file__).parent / "templates/.icons/material/moon-waning-crescent.svg"
headers = {}  # "run/run.hpp": ["run", "step"], as docs/reference.md lists them


def relative(target, page):
    return posixpath.relpath(target, posixpath.dirname(page))


def placed(file):
    """The file at its place in the site: docs/ is the top, and README.md the first page."""
    at = re.sub(r"\.md$", ".html", file.src_uri).removeprefix("docs/")
    file.dest_uri = "index.html" if at == "README.html" else at
    return file


def sources_linked():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    links = {(page.parent / link).resolve() for page in pages for link in LINK.findall(page.read_text())}
    return sorted(link.relative_to(ROOT).as_posix() for link in links
                  if link.suffix not in (".md", ".svg") and link.is_file())


def source_page(path):
    """A source as a page of code, which search leaves out."""
    return (f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n"
            f"{(ROOT / path).read_text()}````\n")


def examples_page(paths):
    """A list of the examples, each with the first sentence of its first comment."""
    rows = []
    for path in paths:
        comment = (ROOT / path).read_text().split("// SPDX")[0].replace("\n//", "").removeprefix("//")
        about = re.split(r"(?<=[.:;])\s", comment.strip())[0].rstrip(".:;")
        rows.append(f"| [`{Path(path).name}`](../{path}) | {reference.escaped(about)} |")
    return "# Examples\n\n| example | what it shows |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def header_page(path):
    at = f"docs/reference/{path}.md"
    text, names = reference.page(path, (ROOT / "include/wane" / path).read_text(),
                                 relative(f"include/wane/{path}", at))
    if set(names) != set(headers[path]):
        raise PluginError(f"{path} declares {names}, docs/reference.md lists {headers[path]}")
    return text


def on_files(files, config):
    headers.clear()
    pages = {"Reference": [], "Umbrellas": []}
    for heading, header, name in re.findall(r"(?m)^## (\w+)|^### `(.*)`|^\| `(\w+)` \|",
                                            (ROOT / "docs/reference.md").read_text()):
        if heading:
            section = heading
            pages.setdefault(section, [])
        elif header:
            headers[header] = []
            pages[section].append({header.partition("/")[2] or header: f"docs/reference/{header}.md"})
        else:
            headers[list(headers)[-1]].append(name)
    examples = sorted(f"examples/{path.name}" for path in ROOT.glob("examples/*.c*")
                      if path.suffix in LANGUAGES)
    made = {"docs/examples.md": examples_page(examples)}
    made |= {f"docs/reference/{header}.md": header_page(header) for header in headers}
    sources = {*examples, *sources_linked(), *(f"include/wane/{header}" for header in headers)}
    made |= {f"{path}.md": source_page(path) for path in sorted(sources)}

    of_docs = [f for f in files if f.src_dir == config.docs_dir]
    site = Files([f for f in files if f.src_dir != config.docs_dir])
    for path in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", *(f"docs/{f.src_uri}" for f in of_docs)]:
        site.append(placed(File(path, str(ROOT), config.site_dir, False)))
    for path, text in made.items():
        site.append(placed(File.generated(config, path, content=text)))
    site.append(File("wane.css", str(Path(__file__).parent), config.site_dir, False))
    site.append(File.generated(config, "moon.svg", content=MOON.read_text()))

    listed = next(entry for entry in config.nav if "Reference" in entry)["Reference"]
    listed[1:] = [{section: entries} for section, entries in pages.items() if entries]
    return site


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri

    def to_source(link):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), link[1]))
        return link[1] + (".md" if files.get_file_from_path(target + ".md") else "")

    markdown = LINK.sub(to_source, markdown)
    markdown = re.sub(r"(?m)^((?:  )+)(?=[-*] )", r"\1\1", markdown)  # lists in lists
    if here == "docs/reference.md":
        header = None
        lines = markdown.split("\n")
        for number, line in enumerate(lines):
            found = re.match(r"### `(.*)`|\| `(\w+)` \|", line)
            if found:
                header = found[1] or header
                name = found[1] or found[2]
                anchor = "" if found[1] else "#" + name
                lines[number] = line.replace(f"`{name}`", f"[`{name}`](reference/{header}.md{anchor})", 1)
        markdown = "\n".join(lines)
    return markdown


def on_page_content(content, page, config, files):
    """Names in the first column of a table, and headers anywhere, lead to the reference."""
    here = page.file.dest_uri
    if here.startswith("reference"):
        return content

    def to_header(code):
        path = code[1].removeprefix("wane/")
        if path not in headers:
            return code[0]
        return f'<a href="{relative(f"reference/{path}.html", here)}">{code[0]}</a>'

    def to_name(code):
        spectra = "spectra" in heading.lower()
        for header in sorted(headers, key=lambda h: (h.startswith("spectra") != spectra, "cuda" in h)):
            if code[1] in headers[header]:
                return f'<a href="{relative(f"reference/{header}.html", here)}#{code[1]}">{code[0]}</a>'
        return code[0]

    heading, parts = "", re.split(r"(<h2.*?</h2>|<tr>\s*<td>.*?</td>|<a .*?</a>|<pre.*?</pre>)", content, flags=re.S)
    for number, part in enumerate(parts):
        if part.startswith("<h2"):
            heading = part
        elif part.startswith("<tr"):
            if "<a " not in part:
                parts[number] = re.sub(r"<code>(\w+)</code>", to_name, part)
        elif not part.startswith(("<a ", "<pre")):
            parts[number] = re.sub(r"<code>([\w/]+\.(?:hpp|cuh))</code>", to_header, part)
    return "".join(parts)
