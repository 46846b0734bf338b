package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// TokenFile is the name of the token's file in the data directory.
const TokenFile = "serve.token"

// tokenBytes is how many random bytes a token has: 128 bits can't be guessed at
// any rate, and the rest costs nothing.
const tokenBytes = 24

// Token gives the token of a data directory, which is made the first time. Its
// file is for the user alone; one that others may read is refused, since they
// may have read it.
func Token(dataDir string) (string, error) {
	path := filepath.Join(dataDir, TokenFile)
	raw, err := atomicfile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeToken(dataDir, path)
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if err := onlyOwner(path); err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if !isToken(token) {
		return "", fmt.Errorf("%s holds no token; remove it, and another is made", path)
	}
	return token, nil
}

// isToken tells whether a text can be a token: long enough, and of characters
// that mean nothing in a path, a header or a shell.
func isToken(s string) bool {
	return len(s) >= tokenBytes && len(s) <= 256 && strings.Trim(s, tokenAlphabet) == ""
}

const tokenAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// makeToken writes a token that no reader ever finds half of. Where two
// processes make one at once, the first one's counts.
func makeToken(dataDir, path string) (string, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return "", fmt.Errorf("make the data directory: %w", err)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return "", fmt.Errorf("make the token: %w", err)
	}
	defer func() { _ = f.Discard() }() // the next one that makes a token removes what stays
	// One process at a time gets here.
	if _, err := os.Lstat(path); err == nil {
		return Token(dataDir)
	}
	token := rand.Text() + rand.Text()
	_, err = f.WriteString(token + "\n")
	if err == nil {
		err = f.Commit(atomicfile.Synced)
	}
	if err != nil {
		return "", fmt.Errorf("make the token: %w", err)
	}
	return token, nil
}

// secret compares without telling by its time how much was right.
type secret [sha256.Size]byte

func newSecret(token string) secret { return sha256.Sum256([]byte(token)) }

func (s secret) is(token string) bool {
	other := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(s[:], other[:]) == 1
}
