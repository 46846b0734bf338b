// Package author has the commands of those who make toolsets: toolset init, validate,
// test and pack. They work on a folder or a bundle as it lies there; what is installed
// is the business of the other commands below toolset. Findings and tests come as text,
// as one object of JSON, or in the forms that CI reads (package cireport).
package author
