"""Lays out the repository as a site: README.md is its first page, sources are pages of code, and
each header with public names has a page of its own, to which the names in tables lead.
SPDX-License-Identifier: MIT
"""
import posixpath
import re
from pathlib import Path

import material
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import python_reference
import reference

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp", ".py": "python"}
TABLES_OF_NAMES = ("call", "function", "map", "memory", "name", "operator", "")  # first headings
MOON = Path(material.__file__).parent / "templates/.icons/material/moon-waning-crescent.svg"
headers = {}  # "run/run.hpp": {"run": {"wane"}, "step": {"wane"}}, names and their namespaces


def relative(target, page):
    return posixpath.relpath(target, posixpath.dirname(page))


def placed(file):
    """The file at its place in the site: docs/ is the top, and README.md the first page."""
    at = re.sub(r"\.md$", ".html", file.src_uri).removeprefix("docs/")
    file.dest_uri = "index.html" if at == "README.html" else at
    return file


def sources_linked():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    links = {(page.parent / link).resolve()
             for page in pages for link in LINK.findall(page.read_text())}
    return [link.relative_to(ROOT).as_posix() for link in links
            if link.suffix not in (".md", ".svg") and link.is_file()]


def source_page(path):
    """A source as a page of code, which search leaves out."""
    language = LANGUAGES.get(Path(path).suffix, "text")
    return (f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n"
            f"````{language}\n{(ROOT / path).read_text()}````\n")


def examples_page(paths):
    """The examples, each with the first sentence of its first comment."""
    rows = []
    for path in paths:
        about = reference.read((ROOT / path).read_text())[0].split(". ")[0].rstrip(".")
        rows.append(f"| [`{Path(path).name}`](../{path}) | {reference.escaped(about)} |")
    return "# Examples\n\n| example | what it shows |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def header_page(path, listed):
    """(its place, its text); `listed` says what each of its names is."""
    at = f"docs/reference/{path}.md"
    text, headers[path] = reference.page(path, (ROOT / "include/wane" / path).read_text(),
                                         relative(f"include/wane/{path}", at), listed)
    if set(headers[path]) != set(listed):
        raise PluginError(f"{path} has {[*headers[path]]}, docs/reference.md lists {[*listed]}")
    return at, text


def on_files(files, config):
    sections, listed = {}, {}
    rows = r"(?m)^## (.*)|^### `(.*)`|^\| `(\w+)` \| (.*) \|"
    for heading, header, name, about in re.findall(rows, (ROOT / "docs/reference.md").read_text()):
        if heading:
            sections[heading] = section = []
        elif header:
            listed[header] = names = {}
            section.append({re.sub(r"^\w+/", "", header): f"docs/reference/{header}.md"})
        else:
            names[name] = about
    reference_pages = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    reference_pages += [{heading: pages} for heading, pages in sections.items()]

    headers.clear()
    made = dict(header_page(header, names) for header, names in listed.items())
    examples = [f"examples/{path.name}" for path in sorted(ROOT.glob("examples/*.[chu]*"))]
    made["docs/examples.md"] = examples_page([path for path in examples if path[-4:] != ".hpp"])
    made["docs/python_functions.md"] = python_reference.page(ROOT / "examples/python/src")
    for path in {*examples, *sources_linked(), *(f"include/wane/{header}" for header in headers)}:
        made[f"{path}.md"] = source_page(path)

    documents = [f"docs/{file.src_uri}" for file in files if file.src_dir == config.docs_dir]
    site = Files(file for file in files if file.src_dir != config.docs_dir)
    for path in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", *documents]:
        site.append(placed(File(path, str(ROOT), config.site_dir, False)))
    for path, text in made.items():
        site.append(placed(File.generated(config, path, content=text)))
    for path in ["wane.css", "iframe-worker.js"]:
        site.append(File(path, str(Path(__file__).parent), config.site_dir, False))
    site.append(File.generated(config, "moon.svg", content=MOON.read_text()))
    return site


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri

    def to_source(link):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), link[1]))
        return link[1] + (".md" if files.get_file_from_path(target + ".md") else "")

    markdown = LINK.sub(to_source, markdown)
    # MkDocs wants four spaces before a list in a list, a code host two.
    markdown = re.sub(r"(?ms)^```.*?^```|^((?:  )+)(?=[-*] )", lambda m: m[0] + (m[1] or ""),
                      markdown)
    if here == "docs/reference.md":
        header = None

        def to_entry(found):
            nonlocal header
            header = found[2] or header
            anchor = f"#{found[3]}" if found[3] else ""
            return f"{found[1]}[`{found[2] or found[3]}`](reference/{header}.md{anchor})"

        markdown = re.sub(r"(?m)^(### |\| )`(?:(.*\.\w+)|(\w+))`(?=$| \|)", to_entry, markdown)
    return markdown


def entry_of(name, spaces):
    """The place of a name in the first of these namespaces that has it."""
    for space in spaces:
        for header, names in headers.items():
            if space in names.get(name, ()):
                return f"reference/{header}.html#{name}"
    return None


def on_page_content(content, page, config, files):
    """Headers, documents, and names of wane in code and in tables of names become links."""
    here = page.file.dest_uri
    spaces = ["wane", "wane::cuda", "wane::spectra", "wane::testing"]
    if here.startswith("reference/spectra/"):
        spaces.insert(0, "wane::spectra")

    def link(to, text):
        if not to or to.partition("#")[0] == here:
            return text
        return f'<a href="{relative(to, here)}">{text}</a>'

    def to_page(found):
        if found[2] in headers:
            return link(f"reference/{found[2]}.html", found[0])
        return link((ROOT / f"docs/{found[1]}.md").is_file() and f"{found[1]}.html", found[0])

    def to_name(code):
        return link(entry_of(code[1], spaces), code[0])

    def to_name_in_code(found):
        space = re.sub(r"<.*?>", "", found[1]).removesuffix("::")
        if space.startswith("wane"):
            to = entry_of(found[4], [space])
        elif here.startswith("reference/") and not space and found[3] == "n" and "_" in found[4]:
            to = entry_of(found[4], spaces)
        else:
            to = None  # it may be a variable or a member
        return found[1] + link(to, found[2])

    of_names = False
    parts = re.split(r"(<h[123] .*?</h[123]>|<pre.*?</pre>|<thead>.*?</thead>|<tr>\s*<td>.*?</td>|"
                     r"<a .*?</a>)", content, flags=re.S)
    for number, part in enumerate(parts):
        if part.startswith("<pre"):
            parts[number] = re.sub(r'((?:<span class="\w+">\w+</span><span class="o">::</span>)*)'
                                   r'(?<!<span class="p">\.</span>)'
                                   r'(<span class="(n[cf]?)">(\w+)</span>)', to_name_in_code, part)
        elif part.startswith("<h2"):
            spaces.sort(key=lambda space: (space == "wane::spectra") != ("spectra" in part.lower()))
        elif part.startswith("<thead"):
            of_names = re.search("<th.*?>(.*?)</th>", part)[1] in TABLES_OF_NAMES
        elif part.startswith("<tr") and of_names and "<a " not in part:
            parts[number] = re.sub(r"<code>(\w+)</code>", to_name, part)
        elif not part.startswith(("<a ", "<h")):
            parts[number] = re.sub(r"(?<![\w/.])(?:docs/([\w/-]+)\.md\b|"
                                   r"(?:wane/)?([\w/]+\.(?:hpp|cuh)\b))", to_page, part)
    return "".join(parts)
