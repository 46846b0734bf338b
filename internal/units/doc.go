// Package units writes numbers for a user: counts with their nouns, and sizes in
// bytes. All functions are pure.
package units
