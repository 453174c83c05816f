package plugins

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// ConfigFile is the name of the file with the configuration that a generation gave its
// host. It is next to the generation's files.
const ConfigFile = "config.yaml"

// bytesAt returns a function that reads a file below a location, up to a number
// of bytes, and follows no link out of the location.
func bytesAt(location string) func(string, int64) ([]byte, error) {
	return func(path string, most int64) ([]byte, error) {
		root, err := os.OpenRoot(location)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		file, err := root.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, most+1))
		if err != nil || int64(len(data)) > most {
			return nil, err
		}
		return data, nil
	}
}

// configAt reads the configuration recorded in a generation, nil if there is none.
func configAt(location string, generation int) (*plugins.Config, error) {
	data, err := readSmall(filepath.Join(location+generationsSuffix, strconv.Itoa(generation), ConfigFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading its config: %w", err)
	}
	config, err := plugins.ReadConfig(data)
	if err != nil {
		return nil, fmt.Errorf("its config: %w", err)
	}
	return config, nil
}
