// The sandbox proxy of MCP Apps (io.modelcontextprotocol/ui, 2026-01-26): between the
// page of fettle serve, which is on another origin, and the view, which has none.
(function () {
  "use strict";
  var host = JSON.parse(document.getElementById("fettle-host").textContent);
  var view = null, loads = 0;
  function up(message) { window.parent.postMessage(message, host); }
  function isMessage(m) { return m !== null && typeof m === "object" && m.jsonrpc === "2.0"; }
  function isOurs(m) { return typeof m.method === "string" && m.method.indexOf("ui/notifications/sandbox-") === 0; }
  function close() {
    if (view) { view.remove(); }
    view = null;
  }
  function show(html) {
    view = document.createElement("iframe");
    view.setAttribute("sandbox", "allow-scripts");
    view.title = "app";
    view.addEventListener("load", function () {
      if (++loads > 1) { close(); } // it went somewhere else
    });
    view.srcdoc = html;
    document.body.appendChild(view);
  }
  window.addEventListener("message", function (e) {
    var m = e.data;
    if (!isMessage(m)) { return; }
    if (e.source === window.parent && e.origin === host) {
      if (m.method === "ui/notifications/sandbox-resource-ready") {
        if (!view && loads === 0 && m.params && typeof m.params.html === "string") { show(m.params.html); }
      } else if (!isOurs(m) && view) {
        view.contentWindow.postMessage(m, "*"); // the view has no origin that could be named
      }
    } else if (view && e.source === view.contentWindow && e.origin === "null" && !isOurs(m)) {
      up(m);
    }
  });
  up({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} });
})();
