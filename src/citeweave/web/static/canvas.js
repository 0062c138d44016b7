// Shared by the network and the map: the toolbar, which is added by script, and the rule for when a wheel or
// a finger scrolls the page instead of moving the picture.
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

// On a long page the wheel scrolls; with Ctrl, which a touchpad pinch also sends, it zooms.
function scrollsPage(frame, event) {
  return frame.hasAttribute("data-in-page") && !event.ctrlKey;
}
