// Package models knows which models there are: a [Catalog] finds one by its name, or
// where none was named, and an [Index] lists what providers offer, from what they say
// now or said before. [Explain] makes what a person reads of what a provider answered.
//
// Each fact about a model carries its [Source], and the configuration's word goes
// before a provider's. What nobody told is unknown, never guessed.
package models
