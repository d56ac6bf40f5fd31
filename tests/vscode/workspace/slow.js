// Runs for a while and stops nowhere.
const end = Date.now() + 120000;
const timer = setInterval(() => {
  if (Date.now() > end) clearInterval(timer);
}, 50);
