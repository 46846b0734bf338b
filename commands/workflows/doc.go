// Package workflows has the command workflows: list, show, start, act and cancel. A
// workflow is steps that a toolset describes; what was begun of one is an instance,
// whose state the engine knows. A run is a turn, and is shown as one is.
package workflows
