package store

// IsImage tells of the kinds of image that models take.
func IsImage(mime string) bool {
	return mime == "image/png" || mime == "image/jpeg" || mime == "image/gif" || mime == "image/webp"
}
