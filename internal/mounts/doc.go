// Package mounts lists what is mounted below a folder: a file there can't be renamed to a
// place outside of its mount, and a mount point can't be removed. Linux alone has such a
// list; on other systems it is empty. A list is of one moment: what it is used for must
// handle a mount that comes or goes after that.
package mounts
