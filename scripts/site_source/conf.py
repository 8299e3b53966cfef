"""How Sphinx renders the pages that scripts/site has written for it."""

import pygments.lexers.special
import sphinx.highlighting

# GitHub knows this name, and Pygments does not.
sphinx.highlighting.lexers["csv"] = pygments.lexers.special.TextLexer()

project = "simai-cpp"
extensions = ["myst_parser"]
root_doc = "index"
# The anchors are those of GitHub, whose Markdown the pages are written in.
myst_heading_anchors = 6
highlight_language = "none"  # Blocks of code name their language.
smartquotes = False  # "--option" is no dash.

html_theme = "theme"
html_theme_path = ["."]
# The site has the colours of the pages that programs write.
html_static_path = ["../../astra-core/pages/colours.css"]
html_css_files = ["colours.css"]
html_title = "simai-cpp"
html_use_index = False
html_copy_source = False
html_permalinks_icon = "#"
# A page that is opened from a folder may not read the others to quote them.
html_show_search_summary = False
