package manifest

// FindSecret finds a key of a service in a text that isn't a manifest's, by how
// such keys begin: where it begins and ends, in bytes; ok is false where there
// is none.
func FindSecret(text []byte) (begin, end int, ok bool) {
	at := secretPattern().FindIndex(text)
	if at == nil {
		return 0, 0, false
	}
	return at[0], at[1], true
}

// SecretMarks are texts of which each such key holds one, for who looks through
// much: only around them FindSecret can find any.
func SecretMarks() []string {
	return []string{
		"sk-", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "gsk_", "hf_", "xoxa-", "xoxb-", "xoxp-", "xoxr-",
		"AKIA", "AIza", "ya29.", "eyJ", "PRIVATE KEY-----",
	}
}
