// Package record encodes stored records as JSON and bounds their length.
//
// [Marshal] is the one encoding of records, journal lines and mirror files: it
// does not escape <, > and &, which would make six bytes of one. It reads back
// with encoding/json, as records that were escaped do.
//
// [Bound] cuts a record whose encoding is too long for the store. It works by
// reflection, so a field that is added to a record is covered without a change
// here. What it shortens carries a mark with the number of bytes that were cut,
// and it returns the names of these fields, so that the caller can report them.
// Short fields stay whole while a long one is cut. The record that was passed
// may share slices, maps and pointers with others: Bound copies what it changes.
package record
