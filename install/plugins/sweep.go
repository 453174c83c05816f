package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
)

// leftover says whether an interrupted run left an entry in the directory of the
// generations, and its state.
type leftover int

const (
	whole    leftover = iota // nothing to do about it
	begun                    // to be removed
	switched                 // the current generation, whose receipt does not say so yet
	emptied                  // the receipt of a clean that removed all, and does not say so yet
)

// leftoverOf returns which kind of leftover an entry in the directory of the
// generations is, with its receipt if it has one. An entry that cannot be read
// counts as none.
func leftoverOf(location, name string, current int) (leftover, *Receipt) {
	if isTemporary(name) {
		return begun, nil
	}
	if name == cleanFile {
		return leftoverOfClean(location)
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		return whole, nil
	}
	if n == 0 && !hasOriginalFiles(location) {
		return begun, nil // the exchange that would have filled it never came
	}
	receipt, err := ReadReceipt(location, n)
	switch {
	case err != nil || receipt.State != StatePending:
		return whole, nil
	case n == current:
		return switched, receipt
	}
	return begun, receipt
}

// hasOriginalFiles reports whether generation 0 contains the files from before
// the first install. Until takeOver swaps the two, it contains the link that
// the location becomes.
func hasOriginalFiles(location string) bool {
	info, err := os.Lstat(filesPath(location, 0))
	return !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Mode()&fs.ModeSymlink == 0)
}

// hasLeftovers reports whether an interrupted run left anything at a location.
func hasLeftovers(location string) bool {
	current, err := currentNumber(location)
	if err != nil {
		return false
	}
	entries, _ := os.ReadDir(location + generationsSuffix) // none is none
	for _, entry := range entries {
		if what, _ := leftoverOf(location, entry.Name(), current); what != whole {
			return true
		}
	}
	return false
}

// sweep deletes what interrupted runs have left at a location, and completes the
// receipt of a run that was interrupted after its switch. The lock must be held.
func (p *locationRoot) sweep(location string) error {
	current, err := currentNumber(location)
	if err != nil {
		return err
	}
	names, err := p.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		var err error
		switch what, receipt := leftoverOf(location, name, current); what {
		case begun:
			err = p.clear(name)
		case switched:
			receipt.Finished = receipt.Started // when is not known
			err = p.installed(receipt)
		case emptied:
			receipt.Finished = receipt.Started
			err = p.markCleaned(receipt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clear deletes an entry in the directory of the generations. It is renamed
// first, so that an interruption leaves nothing incomplete under its name.
func (p *locationRoot) clear(name string) error {
	away := name
	if !isTemporary(name) {
		away = doomedPrefix + name
		if err := p.rename(p.siblingPath(name), p.siblingPath(away)); err != nil {
			return err
		}
	}
	return p.remove(p.siblingPath(away))
}

// installed writes into a receipt that its generation is installed.
func (p *locationRoot) installed(receipt *Receipt) error {
	receipt.State = StateInstalled
	data, err := receipt.Encode()
	if err != nil {
		return err
	}
	return p.replace(path.Join(p.generation(receipt.Generation), receiptFile), data)
}
