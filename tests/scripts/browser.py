"""A headless Chromium, driven over WebDriver with the standard library alone.

    with Browser() as browser:
        browser.open(path)
        title = browser.run("return document.title")

Source: W3C WebDriver, and the extensions of ChromeDriver for DevTools commands
and logs.
"""

import base64
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

PROGRAMS = ("chromium", "chromedriver")
WIDTH, HEIGHT = 1280, 900  # Pixels of the window.
TIME_LIMIT = 60  # Seconds for one answer of the driver.
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--disable-dev-shm-usage", "--disable-background-networking",
    "--no-first-run", f"--window-size={WIDTH},{HEIGHT}"]
# The key under which WebDriver names an element.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ENTER = "\ue007"
SHIFT = "\ue008"
LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"


def missing():
    """Returns the programs that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


class Browser:
    """A session with one window; closes with its context."""

    def __enter__(self):
        self._profile = tempfile.TemporaryDirectory()
        self._driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        for line in self._driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self._url = f"http://127.0.0.1:{found[1]}/session"
        profile = f"--user-data-dir={self._profile.name}"
        options = {"args": [*ARGUMENTS, profile],
                   "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self._url += "/" + self._post(
            "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        return self

    def __exit__(self, *unused):
        try:
            self._request("", None, "DELETE")
        finally:
            self._driver.terminate()
            self._driver.wait()
            self._driver.stdout.close()
            self._profile.cleanup()

    def _request(self, path, body, method):
        request = urllib.request.Request(
            self._url + path, method=method,
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=TIME_LIMIT) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def _post(self, path, body):
        return self._request(path, body, "POST")

    def _devtools(self, command, **parameters):
        return self._post("/goog/cdp/execute",
                          {"cmd": command, "params": parameters})

    def open(self, path):
        """Opens a file, and forgets what was logged before."""
        self.log("browser")
        self.log("performance")
        self._post("/url", {"url": pathlib.Path(path).resolve().as_uri()})

    def run(self, script, *arguments):
        """Runs the body of a function and returns what it returns."""
        return self._post("/execute/sync",
                          {"script": script, "args": list(arguments)})

    def find(self, selector):
        """Returns the elements that a CSS selector names."""
        return self._post("/elements",
                          {"using": "css selector", "value": selector})

    def click(self, element):
        self._post(f"/element/{element[ELEMENT]}/click", {})

    def press(self, element, *keys):
        """Presses keys, all at once, while `element` has the focus."""
        self.run("arguments[0].focus()", element)
        self._post("/actions", {"actions": [
            {"type": "key", "id": "keyboard",
             "actions": [*({"type": "keyDown", "value": key} for key in keys),
                         *({"type": "keyUp", "value": key}
                           for key in reversed(keys))]}]})

    def run_scripts(self, wanted):
        """Makes the next pages run their scripts, or not."""
        self._devtools("Emulation.setScriptExecutionDisabled", value=not wanted)

    def log(self, kind):
        """Returns the entries since the last call: "browser" is the console."""
        return self._post("/se/log", {"type": kind})

    def requests(self):
        """Returns the addresses that the page asked for."""
        messages = [json.loads(entry["message"])["message"]
                    for entry in self.log("performance")]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def prefer(self, scheme):
        """Makes the page believe that its reader prefers "light" or "dark"."""
        self._devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, top=0, bottom=None):
        """Returns the page as PNG, from `top` to `bottom` or its end."""
        whole = self.run("return document.documentElement.scrollHeight")
        end = min(whole, bottom or whole)
        clip = {"x": 0, "y": top, "width": WIDTH, "height": end - top,
                "scale": 1}
        return base64.b64decode(self._devtools(
            "Page.captureScreenshot", clip=clip,
            captureBeyondViewport=True)["data"])
