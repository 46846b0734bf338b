// Package remedy writes the remedies of a fault for a shell: as commands that can be
// pasted. It also has the flags that stand for the fields of a request.
package remedy
