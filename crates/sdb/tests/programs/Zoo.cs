using System;
using System.Collections.Generic;

struct Point { public int X; public int Y; public Point(int x, int y) { X = x; Y = y; } }
enum Color { Red, Green, Blue }

class Animal {
    public string Name { get; set; }
    public int age = 3;
    public int Twice { get { return age * 2; } }
    public int Spin() { while (true) { age++; } }
    public int Bad() { throw new ArgumentException("no"); }
}

class Zoo {
    static int counter = 7;

    static int Add(int a, int b) {
        int sum = a + b;
        counter++;
        return sum;
    }

    static int Main(string[] args) {
        var rex = new Animal { Name = "Rex" };
        var place = new Point(3, 4);
        object boxed = 42;
        Color color = Color.Blue;
        int[] row = { 1, 2, 3 };
        int total = 0;
        for (int i = 0; i < 3; i++) {
            total = Add(total, i);
        }
        Console.WriteLine("{0} {1} {2} {3} {4} {5}", rex.Name, place.X, boxed, color, row.Length, total);
        if (args.Length > 0) throw new InvalidOperationException("too many");
        return total;
    }
}
