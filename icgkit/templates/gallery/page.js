(function () {
  var root = document.documentElement, button = document.getElementById("theme");
  function keep(value) { try { localStorage.setItem("icgkit-theme", value); } catch (e) { /* no storage */ } }
  try { var kept = localStorage.getItem("icgkit-theme"); if (kept) { root.dataset.theme = kept; } } catch (e) { /* no storage */ }
  button.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep(root.dataset.theme);
  });
  var box = document.getElementById("filter"), count = document.getElementById("count");
  var items = Array.prototype.slice.call(document.querySelectorAll("[data-item]"));
  var kinds = Array.prototype.slice.call(document.querySelectorAll("[data-kind-switch]"));
  var texts = items.map(function (item) { return item.textContent.toLowerCase(); });
  function apply() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    var off = kinds.filter(function (k) { return !k.checked; }).map(function (k) { return k.value; });
    items.forEach(function (item, i) {
      var on = item.dataset.kind.split(" and ").some(function (k) { return off.indexOf(k) < 0; });
      var fits = on && words.every(function (w) { return texts[i].indexOf(w) >= 0; });
      item.hidden = !fits;
      var entry = document.querySelector('[data-entry="' + item.id + '"]');
      if (entry) { entry.hidden = !fits; }
      if (fits) { shown += 1; }
    });
    document.querySelectorAll("[data-group]").forEach(function (group) {
      group.hidden = !group.querySelector("[data-item]:not([hidden])");
    });
    count.textContent = shown === items.length ? items.length + " shown" : shown + " of " + items.length + " shown";
  }
  box.addEventListener("input", apply);
  kinds.forEach(function (k) { k.addEventListener("change", apply); });
  apply();
})();
