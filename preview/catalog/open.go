package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Store keeps the indexes of catalogs as files; source.Store implements it.
type Store interface {
	// Open opens a file to read. A missing file is fs.ErrNotExist.
	Open(name string) (*os.File, error)
	// Create makes or replaces a file with what write yields, whole or not at
	// all. Without a place for files it returns an error and does not call write.
	Create(name string, write func(io.Writer) error) error
	// Key is a secret of the user's. Data that it seals was written by this program for this
	// user.
	Key() []byte
}

// Open opens a catalog by its index in the store. If there is no valid index, it
// walks the catalog and writes one. identity is the digest of the catalog's
// content. With a store that keeps no files, every call walks the catalog and
// keeps the index in memory.
func Open(store Store, identity string, origin Origin, walk Walk) (*Catalog, error) {
	again := func() (*index, error) { return buildIndex(store, identity, walk) }
	x, err := storedIndex(store, identity)
	if err != nil {
		x, err = again()
	}
	if err != nil {
		return nil, fmt.Errorf("reading catalog %s: %w", origin.Reference, err)
	}
	return &Catalog{origin: origin, store: store, identity: identity, index: x, again: again}, nil
}

// storedIndex opens the index of a catalog from the store. Its file stays open, so that
// it remains readable if another process trims the store.
func storedIndex(store Store, identity string) (*index, error) {
	file, err := store.Open(indexName(identity))
	if err != nil {
		return nil, err
	}
	var x *index
	info, err := file.Stat()
	if err == nil {
		x, err = openIndex(file, info.Size(), store.Key(), identity)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return x, nil
}

func buildIndex(store Store, identity string, walk Walk) (*index, error) {
	writing := false
	err := store.Create(indexName(identity), func(w io.Writer) error {
		writing = true
		return build(walk, store.Key(), identity, w)
	})
	if err != nil && !writing {
		return buildInMemory(walk)
	}
	if err != nil {
		return nil, err
	}
	return storedIndex(store, identity)
}

// buildInMemory returns a new index that is only in memory.
func buildInMemory(walk Walk) (*index, error) {
	var data bytes.Buffer
	if err := build(walk, nil, "", &data); err != nil {
		return nil, err
	}
	return openIndex(bytes.NewReader(data.Bytes()), int64(data.Len()), nil, "")
}
