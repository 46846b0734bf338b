// The view's side of MCP Apps (io.modelcontextprotocol/ui, 2026-01-26), as far as
// a page needs it that shows the data of one call.
(function () {
  "use strict";
  var page = JSON.parse(document.getElementById("fettle-page").textContent);
  var host = window.parent, next = 1, waiting = {}, shown = false;
  // Nothing that is sent is a secret, and who the host is can't be known here.
  function send(message) { message.jsonrpc = "2.0"; host.postMessage(message, "*"); }
  function ask(method, params, then) {
    waiting[next] = then;
    send({ id: next++, method: method, params: params });
  }
  function size() {
    var at = document.documentElement;
    send({ method: "ui/notifications/size-changed", params: { width: Math.ceil(at.scrollWidth), height: Math.ceil(at.scrollHeight) } });
  }
  function textOf(result) {
    return (result.content || []).map(function (c) { return c.type === "text" ? c.text : ""; }).join("\n");
  }
  function show(result) {
    if (shown) { return; }
    shown = true;
    if (result.isError) {
      var pre = document.createElement("pre");
      pre.textContent = textOf(result);
      document.body.appendChild(pre);
    } else {
      var meta = result._meta || {}, data = meta["fettle/page"];
      if (data === undefined) { data = result.structuredContent === undefined ? { text: textOf(result) } : result.structuredContent; }
      document.open(); // takes the listeners away, and leaves the window's names
      window.__TOOL_DATA__ = data;
      document.write(page);
      document.close();
      window.addEventListener("message", heard);
    }
    if (window.ResizeObserver) { new ResizeObserver(size).observe(document.documentElement); }
    size();
  }
  function heard(e) {
    var m = e.data;
    if (e.source !== host || !m || m.jsonrpc !== "2.0") { return; }
    if (m.method === undefined) {
      var then = waiting[m.id];
      delete waiting[m.id];
      if (then && m.result) { then(m.result); }
    } else if (m.method === "ui/notifications/tool-result") {
      show(m.params || {});
    } else if (m.method === "ping" || m.method === "ui/resource-teardown") {
      send({ id: m.id, result: {} });
    } else if (m.id !== undefined) {
      send({ id: m.id, error: { code: -32601, message: "the page takes no " + m.method } });
    }
  }
  window.addEventListener("message", heard);
  ask("ui/initialize", { appInfo: { name: "fettle", version: "1.0.0" }, appCapabilities: {}, protocolVersion: "2026-01-26" }, function () {
    send({ method: "ui/notifications/initialized" });
  });
})();
