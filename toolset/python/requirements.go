package python

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// maxRequirements and maxRequirement are toolset.yaml's own bounds. A package
// with a wheel for each system has some fifty hashes.
const maxRequirements, maxRequirement = 200, 8000

// requirementForm is a name, extras, versions and a marker. An address, a path
// or an option could install code from anywhere.
var requirementForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?( *\[[A-Za-z0-9._, -]*\])?` +
		`( *(~=|===?|!=|<=|>=|<|>) *[A-Za-z0-9][A-Za-z0-9.*+!_-]*( *, *(~=|===?|!=|<=|>=|<|>) *[A-Za-z0-9][A-Za-z0-9.*+!_-]*)*)?( *;[^\r\n@#]*)?$`)
})

// hashForm is the last hash of a requirement as pip's --require-hashes has it:
// the name, its length and its alphabet.
var hashForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` +--hash=(sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$`)
})

func checkRequirements(lines []string) error {
	if len(lines) > maxRequirements {
		return fmt.Errorf("there are %d requirements, and %d are allowed", len(lines), maxRequirements)
	}
	with := 0
	for _, line := range lines {
		name, hashed := splitHashes(line)
		// what begins with a hyphen is an option to pip, wherever it stands
		if len(line) > maxRequirement || !requirementForm().MatchString(name) || strings.Contains(name, " -") || strings.Contains(name, ";-") {
			return fmt.Errorf("requirement %q: want a package's name and versions, such as requests==2.32.3", oneLine(strings.ToValidUTF8(line[:min(len(line), 200)], "")))
		}
		if hashed {
			with++
		}
	}
	if with > 0 && with < len(lines) {
		return fmt.Errorf("%d of %d requirements have hashes: give them to all, dependencies included, or to none", with, len(lines))
	}
	return nil
}

// splitHashes takes the hashes off a requirement.
func splitHashes(line string) (requirement string, hashed bool) {
	for {
		at := hashForm().FindStringIndex(line)
		if at == nil {
			return line, hashed
		}
		line, hashed = line[:at[0]], true
	}
}
