"""The server: `streamlit run app.py` or `python app.py`. Pages are in pages/, the HTTP layer around them in
web/."""

import gc
from pathlib import Path

# The modules stay. Collecting garbage among them takes a seventh of the time of these imports.
usual = gc.get_threshold()
gc.set_threshold(50_000)
import streamlit as st  # noqa: E402

from web import problems, server  # noqa: E402
from web.lifespan import lifespan  # noqa: E402

gc.set_threshold(*usual)
settings = server.settings_or_exit()
server.follow(settings)
app = st.App(
    Path(__file__).with_name("pages") / "main.py",
    routes=server.ROUTES,
    middleware=server.middleware(settings),
    lifespan=lifespan,
    on_script_error=problems.say,
)

if __name__ == "__main__":
    server.run(app, settings)
