'use strict';
(function () {
  var root = document.documentElement;
  var search = document.getElementById('search');
  var shown = document.getElementById('shown');
  var items = Array.prototype.slice.call(document.querySelectorAll('.item'));
  var sections = Array.prototype.slice.call(document.querySelectorAll('section'));
  var texts = null;
  var waiting = 0;

  function filter() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (texts === null) {
      texts = items.map(function (item) { return item.textContent.toLowerCase(); });
    }
    var count = 0;
    items.forEach(function (item, i) {
      var hit = words.every(function (word) { return texts[i].indexOf(word) >= 0; });
      item.hidden = !hit;
      if (hit) { count++; }
    });
    sections.forEach(function (section) {
      section.hidden = words.length > 0 && section.querySelector('.item:not([hidden])') === null;
    });
    shown.textContent = words.length === 0 ? items.length + ' entries' : count + ' of ' + items.length + ' entries';
  }

  function fold(open) {
    document.querySelectorAll('details.item:not([hidden])').forEach(function (item) { item.open = open; });
  }

  search.addEventListener('input', function () {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 80);
  });
  document.getElementById('open').addEventListener('click', function () { fold(true); });
  document.getElementById('close').addEventListener('click', function () { fold(false); });
  document.getElementById('theme').addEventListener('click', function () {
    var dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  });
  document.addEventListener('click', function (event) {
    var link = event.target.closest('a[href^="#"]');
    var target = link && document.getElementById(link.getAttribute('href').slice(1));
    if (target) { target.hidden = false; target.open = true; }
  });
  document.addEventListener('keydown', function (event) {
    if (event.key === '/' && document.activeElement !== search) { event.preventDefault(); search.focus(); }
  });
  shown.textContent = items.length + ' entries';
}());
