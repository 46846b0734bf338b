// Package demo has the command demo: whole turns whose model is a recording, with
// nothing to set up. The agents, the tools, the folder and the store are the real
// ones, in a data directory that goes away with the program unless it is to be kept.
//
// [Open] gives who serves a demonstration the same engine, and [Questions] what there
// is to ask it. What is recorded is package demodata's.
package demo
