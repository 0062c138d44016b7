// What the network and the map share: their buttons, which are there only where scripts are, and when a wheel or
// a finger moves the page instead of the picture.
"use strict";

function addTools(frame, acts) {
  const name = frame.dataset.name;
  const tools = document.createElement("div");
  tools.className = "tools no-print";
  tools.setAttribute("role", "toolbar");
  tools.setAttribute("aria-label", name);
  for (const [act, text, label] of [["in", "+", "Zoom in"], ["out", "−", "Zoom out"], ["all", "Show all", "Show all"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", `${label}: ${name}`);
    if (text.length > 1) button.className = "wide";
    button.addEventListener("click", acts[act]);
    tools.append(button);
  }
  frame.append(tools);
}

// In a long page the wheel scrolls on; with Ctrl, as a pinch on a touchpad sends it, it zooms.
function scrollsPage(frame, event) {
  return frame.hasAttribute("data-in-page") && !event.ctrlKey;
}
