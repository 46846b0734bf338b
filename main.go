// Command fettle gives any model a workbench: ask it something from the shell,
// hand it tools, and undo what they did.
package main

func main() {}
