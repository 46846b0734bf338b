// Package models has the command models: list, show, pull and rm. What there is to
// know of a model, and where that comes from, is the engine's; here it is asked for,
// filtered and printed.
//
// [Index] is how a program lists the models of a configuration: the commands here,
// completion, and what serves other programs. It keeps what providers said in the
// cache directory, so that a list may be had without asking anybody.
package models
