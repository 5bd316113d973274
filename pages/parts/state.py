"""Every name stored in Streamlit's session state, in one place. Nothing is stored only there."""

PROJECT = "winnow_project"
"""The project last opened in this tab."""

NAMES = "winnow_names"
"""Names of the person's projects by id, as `main.py` has read them for this run; its page reads them no second time."""

TURN = "winnow_turn"
"""Number of clicks handled by the server: the question card accepts input again when it changes."""

DRAWING = "winnow_drawing"
"""Number of card redraws: the card ignores data sent twice, for example after a change of theme."""

NOTICE = "winnow_notice"
"""Message to show once at the next redraw."""

NEXT = "winnow_next"
"""Project and result of a click, until it is drawn."""

ASKED = "winnow_asked"
"""Project of the question last shown on this tab; its row is offered to others once the tab shows something
else."""

DRAWN = "winnow_drawn"
"""Project and last card data: while the store fails the card stays like this, with typed input."""

SUGGEST = "winnow_suggest"
"""Beginning of the keys of the Suggest labels page, with the project behind it."""

MANY = "winnow_many"
"""The project in which this tab shows many rows at once; absent if it shows one."""

CARD = "winnow_card"
"""Widget key of the question card."""

LIKE = "winnow_like"
"""Project and row for which the Queue page lists similar rows; absent if it lists search results."""

BY_MEANING = "winnow_by_meaning"
"""Beginning of the key of the Queue page's switch between words and meaning, with the project behind it."""

SIMILAR = "winnow_similar"
"""Last request of the card for the answered rows most similar to its question's row."""

TOKEN = "winnow_token"  # noqa: S105 - a key
"""Purpose and secret of a new token, until it is drawn once."""

FLASH = "winnow_flash"
"""A toast that survives one page switch."""

PANEL = "winnow_panel"
"""Last request of the card for one of its panels: examples, or the rows of the last answers."""

EXAMPLES = "winnow_examples"
"""Whether there are examples of classes, as the page was loaded."""

DAY = "winnow_day"
"""The person's day at the project in words: goal, break."""

GOAL = "winnow_goal"
"""Beginning of the widget keys of goal and breaks, with the project behind it."""

JUDGED = "winnow_judged"
"""Project and result of the latest answer to a known row, until the person continues."""

LEAVE = "winnow_leave"
"""The page to open once the click is handled, and the query of its address."""

WALK = "walk"
"""Name in an address of the first of several projects that ask about the same rows."""

EXAMPLE = "winnow_example"
"""Beginning of the widget keys that mark a row as an example, with project and row behind it."""

DISPUTE = "winnow_dispute"
"""Project and row of the open dispute."""

VERDICT = "winnow_verdict"
"""Project and seq of the last verdict on this tab, until it is withdrawn."""

SETTLED = "winnow_settled"
"""Effect of the latest click on the Disputes page, shown once."""

FILE = "winnow_file"
"""Beginning of the keys of files that boxes hold, with the box's key behind it."""

UPLOAD = "winnow_upload"
"""The uploaded file's key, its cells and files, and the problems that prevented reading it."""

CHECKED = "winnow_checked"
"""The table read from it under the roles chosen last."""

INVITED = "winnow_invited"
"""Widget key of the name on the People page."""

LINK = "winnow_link"
"""Name and secret of the latest sign-in link, until it is dismissed."""

PASSWORD = "winnow_password"  # noqa: S105 - a name, no password
"""Beginning of the widget keys of the passwords on the My account page, emptied at every click."""

STRATEGY = "winnow_strategy"
"""Widget key, with project and strategy behind it, of the chooser on the Queue page."""

QUEUE = "winnow_queue"
"""Beginning of the keys of the list on the Queue page, with the project behind it."""

TAB = "winnow_tab"
"""A random name of this session: a card that outlived a restart of the server sees that it changed."""

SEEN = "winnow_seen"
"""Project and log version that the Progress page has drawn."""

MORE_ROWS = "winnow_more_rows"
"""Beginning of the keys of a file with more rows for a project: the upload, and what it would add."""

COLUMNS = "winnow_columns"
"""Guessed and chosen roles of the uploaded file's columns."""

SWITCH = "winnow_switch"
"""Widget key, with the projects behind it, of the project chooser in a page's heading."""

TITLE = "winnow_title"
"""Key of a page's heading with the project chooser next to it."""

JUMP = "winnow_jump"
"""Key of the list of pages and projects that Ctrl+K opens."""

CLASSES = "winnow_classes"
"""Widget key, with the project behind it, of the list of classes that the question card searches."""

CLASS_NAMES = "winnow_class_names"
"""The class names that list was drawn with: it is redrawn when they change."""

FRAME = "winnow_frame"
"""`Standing.frame` at the first redraw of the card since the page was loaded: the page is redrawn when it
changes."""

MENU = "winnow_menu"
"""Key of the invisible element that closes the phone's menu."""

GUIDELINES = "winnow_guidelines"
"""Key of the guidelines above the question card; the card's G key opens and closes them."""

REVIEW = "winnow_review"
"""Beginning of the widget keys on the Review page, with the project and subject behind it."""

OPENED = "winnow_opened"
"""The list of rows, the row that is open in the drawer, and the mark of its line; see `row_table`."""

DRAWER = "winnow_drawer"
"""Key of the drawer, and beginning of the keys of its parts."""

SETTINGS = "winnow_settings"
"""Beginning of the widget keys on the Project settings page, with project and version behind it."""

PLAY = "winnow_play"
"""Widget key, with the project behind it, of the button that lets Winnow answer."""

STOP_PLAY = "winnow_stop_play"
"""Widget key, with the project behind it, of the button that stops it."""

PLAYED = "winnow_played"
"""Questions answered so far in a dry run; absent when none runs."""

SAVED = "winnow_saved_field"
"""Key of the field whose change was saved last, its value before, and whether it can be undone; until it is drawn."""

REFUSED = "winnow_refused"
"""Why the last click was refused, shown once at the next redraw."""

MODELS = "winnow_models_seen"
"""Result of `workflow.models.showing.watched` when the Models page was drawn."""

MEANING = "winnow_meaning"
"""Whether the Models page opens its part about learning from meaning."""

EXPORT = "winnow_export"
"""Beginning of the widget keys on the Export page."""

FETCHED = "winnow_fetched"
"""Key of the file of the latest click on the Export page, which the browser downloads once it is drawn."""

SCORES = "winnow_scores"
"""Beginning of the widget keys of the scores on the Review page, with the project behind it."""

MEMBERS = "winnow_members"
"""Beginning of the widget keys of a project's members, with the project behind it."""

GROUPS = "winnow_groups"
"""Beginning of the widget keys of the groups on the People page."""

INVITED_TO = "winnow_invited_to"
"""Prefix of the widget keys for projects that are shared with an invited person."""

MY_FIGURES = "winnow_my_figures"
"""A person's own figures, with their project and the log's latest entry at that time."""

TEAM = "winnow_team"
"""The figures of everyone, with their project and the log's latest entry at that time."""

TEAM_TABLE = "winnow_team_table"
"""Beginning of the widget key of the table on the Team page, with the project behind it."""

TEAM_ACT = "winnow_team_act"
"""The click in that table, and the person it is about, until the page has handled it."""

FIND_PROJECT = "winnow_find_project"
"""Widget key of the box on Home that searches projects."""

PROJECT_ORDER = "winnow_project_order"
"""Widget key of the order in which Home lists projects."""

PROJECTS_DRAWN = "winnow_projects_drawn"
"""Number of lines that Home draws at most in a list of projects, with the list behind it."""

TOUR = "winnow_tour"
"""Beginning of the keys of a demo's tour, with the project behind it: the current step, and its buttons."""

PLAY = "winnow_play"
"""Whether to play the row just opened on Review at once."""
