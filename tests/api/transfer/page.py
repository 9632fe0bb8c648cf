"""Opens the page of an upload link in Chromium and uses it as people do.

page.py <link that works> <link that does not> <directory with files>
"""

import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

works, gone, directory = sys.argv[1:]


def start(script=True, dark=False):
    options = webdriver.ChromeOptions()
    for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]:
        options.add_argument(flag)
    if dark:
        options.add_argument("--force-dark-mode")
    if not script:
        off = {"profile.managed_default_content_settings.javascript": 2}
        options.add_experimental_option("prefs", off)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.set_page_load_timeout(60)
    return browser


def wait(browser, what, look):
    try:
        return WebDriverWait(browser, 60, poll_frequency=0.05).until(lambda _: look())
    except Exception:
        print(browser.page_source)
        raise AssertionError(what)


def find(browser, selector):
    return browser.find_elements(By.CSS_SELECTOR, selector)


def words(browser):
    """The word at the end of each file in the list."""
    return [item.text for item in find(browser, "#list li p")]


def settled(browser, count):
    def look():
        now = words(browser)
        waits = any(word == "Waiting" or word.endswith("%") for word in now)
        return len(now) == count and not waits and now

    return wait(browser, f"{count} files settle", look)


def status(browser):
    return find(browser, "#status")[0].text


browser = start()
try:
    browser.get(works)
    assert browser.title == "Send files", browser.title
    # Elements for screen readers: names for both inputs, a live region, no button that does nothing.
    for name in ["files", "folder"]:
        assert find(browser, f"label[for={name}]")[0].text
    assert find(browser, "#status")[0].get_attribute("role") == "status"
    assert not find(browser, "#send")[0].is_displayed()
    # The keyboard reaches the choice.
    find(browser, "body")[0].send_keys(Keys.TAB)
    focused = browser.switch_to.active_element.get_attribute("id")
    assert focused == "files", focused

    # A slow line, so that there is progress to see.
    browser.execute_cdp_cmd("Network.enable", {})
    line = {"offline": False, "latency": 5, "downloadThroughput": 2e6, "uploadThroughput": 6e5}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", line)
    seen = set()
    find(browser, "#files")[0].send_keys(f"{directory}/slow.bin")

    def progress():
        for bar in browser.execute_script(
            "return [...document.querySelectorAll('progress')].map((bar) => bar.value)"
        ):
            if 0 < bar < 1:
                seen.add(bar)
        return words(browser) == ["Received"]

    wait(browser, "the slow file arrives", progress)
    assert seen, "no progress was seen"
    assert status(browser) == "1 file was received.", status(browser)
    line = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", line)

    # One that is fine and one that is too large.
    both = f"{directory}/small é.txt\n{directory}/large.bin"
    find(browser, "#files")[0].send_keys(both)
    now = settled(browser, 3)
    assert now[1] == "Received", now
    assert now[2] == "This file is too large: at most 4 MB are taken.", now
    assert status(browser) == "2 files were received. 1 file was not sent.", status(browser)

    # The server says the same where the page does not know the limit.
    browser.execute_script("document.getElementById('form').dataset.limit = '9'")
    browser.refresh()
    browser.execute_script(
        """
        const body = new FormData();
        body.append('file', new File([new Uint8Array(4 * 1024 * 1024 + 1)], 'large.bin'));
        window.answer = null;
        fetch(location.href, {method: 'POST', body, headers: {Accept: 'application/json'}})
            .then((answer) => answer.json()).then((answer) => { window.answer = answer; });
        """
    )
    answer = wait(browser, "an answer", lambda: browser.execute_script("return window.answer"))
    assert answer["error"]["message"] == "This file is too large: at most 4 MB are taken.", answer

    # A whole folder keeps its shape.
    find(browser, "#folder")[0].send_keys(f"{directory}/folder")
    assert settled(browser, 2) == ["Received", "Received"]

    # Dropped on the page, and the same name once more.
    browser.execute_script(
        """
        const data = new DataTransfer();
        data.items.add(new File(['dropped'], 'dropped.txt'));
        for (const kind of ['dragover', 'drop']) {
            document.body.dispatchEvent(
                new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
        }
        """
    )
    assert settled(browser, 3)[2] == "Received"

    # The link ends while the page is open, or the connection does.
    line = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", line)
    find(browser, "#files")[0].send_keys(f"{directory}/slow.bin")
    assert settled(browser, 4)[3].startswith("The connection was lost")
    line["offline"] = False
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", dict(line, downloadThroughput=-1, uploadThroughput=-1))

    # A link that does not work says so, and nothing else.
    browser.get(gone)
    assert find(browser, "h1")[0].text == "This link does not work"
    assert not find(browser, "input")
    refused = [entry["message"] for entry in browser.get_log("browser")
               if "Content Security Policy" in entry["message"]]
    assert not refused, refused
finally:
    browser.quit()

# Without scripts the form is a form.
browser = start(script=False)
try:
    browser.get(works)
    find(browser, "#files")[0].send_keys(f"{directory}/small é.txt")
    find(browser, "#send button")[0].click()
    wait(browser, "thanks", lambda: browser.title == "Thank you")
    assert "The file was received." in find(browser, "main")[0].text
finally:
    browser.quit()

# Light and dark.
grounds = set()
for dark in [False, True]:
    browser = start(dark=dark)
    try:
        if dark:
            media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.get(works)
        grounds.add(find(browser, "body")[0].value_of_css_property("background-color"))
    finally:
        browser.quit()
assert len(grounds) == 2, grounds
print("the page was used")
