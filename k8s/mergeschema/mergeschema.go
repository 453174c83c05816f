// Package mergeschema has the schemas that server-side apply merges the built-in kinds
// with, in a form that is read in a tenth of the time that the YAML of client-go takes:
// that was half of the processor time of a preview.
package mergeschema

import (
	"bytes"
	_ "embed"
	"encoding/gob"
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// builtIn is the schema of client-go's apply configurations in encoding/gob. A test
// compares the two; its flag -update writes the file anew.
//
//go:embed builtin.gob
var builtIn []byte

// Parser returns the schemas of the built-in kinds. As client-go's, it panics if they
// cannot be read: they are part of the program, and not of its input.
func Parser() *typed.Parser {
	types, err := decode(builtIn)
	if err != nil {
		panic(fmt.Sprintf("reading the schemas of the built-in kinds: %v", err))
	}
	return &typed.Parser{Schema: schema.Schema{Types: types}}
}

// encode and decode register the one composite type of defaults.
func encode(types []schema.TypeDef) ([]byte, error) {
	gob.Register(map[any]any{})
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(types)
	return b.Bytes(), err
}

func decode(data []byte) (types []schema.TypeDef, err error) {
	gob.Register(map[any]any{})
	err = gob.NewDecoder(bytes.NewReader(data)).Decode(&types)
	return types, err
}
