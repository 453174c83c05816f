package format

import (
	"fmt"
	"io"
	"io/fs"
)

// ReadFile reads a file of the content. More than limit bytes are an error, whatever
// size the content claims. A missing file is an [fs.ErrNotExist].
func ReadFile(content fs.FS, name string, limit int64) ([]byte, error) {
	f, err := content.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than the %d KiB that are left for it", name, limit>>10)
	}
	return data, nil
}
