// Package wholefile replaces small files as a whole: configuration, keys, what is
// trusted. It does not interpret their contents, and is not for files that grow.
//
// # Promises
//
// A reader sees the old content or the new one, never a part, also after a crash or a
// power cut (see internal/atomicfile). Changes that hold [Lock] don't lose each other,
// whatever name of the file each goes by; a reader needs no lock. A symbolic link stays
// a link, and the file that it leads to is replaced, since users keep such files in
// their own repositories. Mode and, as far as the system allows it, owner stay as they
// were.
//
// A private file can be read by its owner alone: mode 0600, and on Windows an
// access list with one entry, since mode bits mean nothing there.
package wholefile
