package schema

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// explain turns the library's error of compiling into places and words.
func (s *survey) explain(err error) error {
	var (
		invalid *jsonschema.SchemaValidationError
		regex   *jsonschema.InvalidRegexError
		load    *jsonschema.LoadURLError
		place   *jsonschema.JSONPointerNotFoundError
		bad     *jsonschema.InvalidJsonPointerError
		anchor  *jsonschema.AnchorNotFoundError
		parse   *jsonschema.ParseURLError
		dupID   *jsonschema.DuplicateIDError
		dup     *jsonschema.DuplicateAnchorError
		badID   *jsonschema.ParseIDError
		badA    *jsonschema.ParseAnchorError
	)
	switch {
	case errors.As(err, &invalid):
		return invalidSchema(invalid)
	case errors.As(err, &regex):
		return compileError(locationPointer(regex.URL), "the pattern %s can't be used: %s", quote(regex.Regex), plain(clip(regex.Err.Error(), maxShownError)))
	case errors.As(err, &load):
		return s.badReference(load.URL, "%s leads out of the schema; "+errRemote.Error())
	case errors.As(err, &place):
		return s.badReference(place.URL, "%s leads to nothing in the schema")
	case errors.As(err, &bad):
		return s.badReference(bad.URL, "%s is no valid JSON pointer")
	case errors.As(err, &anchor):
		return s.badReference(anchor.Reference, "%s leads to nothing in the schema")
	case errors.As(err, &parse):
		return s.badReference(parse.URL, "%s is no valid URL reference")
	case errors.As(err, &dupID):
		return compileError(max(dupID.Ptr1, dupID.Ptr2), "the id %s stands twice in the schema", quote(dupID.ID))
	case errors.As(err, &dup):
		return compileError(max(dup.Ptr1, dup.Ptr2), "the anchor %s stands twice", quote(dup.Anchor))
	case errors.As(err, &badID):
		return compileError(locationPointer(badID.URL), "its id is no valid URL")
	case errors.As(err, &badA):
		return compileError(locationPointer(badA.URL), "its anchor is not valid")
	}
	return compileError("", "%s", plain(clip(err.Error(), maxShownError)))
}

// badReference says which reference is wrong; the format gets it quoted.
func (s *survey) badReference(url, format string) error {
	if r, ok := s.find(url); ok {
		return compileError(r.pointer, format, quote(r.target))
	}
	return compileError("", format, quote(strings.TrimPrefix(url, documentURL)))
}

// invalidSchema reports what the metaschema finds.
func invalidSchema(err *jsonschema.SchemaValidationError) error {
	base := locationPointer(err.URL)
	var verr *jsonschema.ValidationError
	if !errors.As(err.Err, &verr) {
		return compileError(base, "it is no valid schema")
	}
	problems := (&translator{}).problems(verr)
	for i := range problems {
		problems[i].Pointer = base + problems[i].Pointer
	}
	return &CompileError{Problems: problems}
}
