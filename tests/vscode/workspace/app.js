// A program that adds, for the tests of VS Code.
function add(left, right) {
  const sum = left + right;
  return sum;
}

let total = 0;
for (let turn = 1; turn <= 5; turn += 1) {
  total = add(total, turn);
}
console.log(`total ${total}`);
