package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// maxReceipt is the largest receipt that is read back, in bytes.
const maxReceipt = 64 << 20

// receiptFlag is the flag --receipt: the file for the receipt of an apply, in addition
// to the record in the cluster.
type receiptFlag struct {
	Path string
}

// Add adds the flag to a command.
func (f *receiptFlag) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Path, "receipt", "", "write the receipt to this new file, of a run that failed too: what was approved, and what was observed of every object")
}

// receiptFile writes the receipt of one run to a file. A nil *File
// writes nothing.
type receiptFile struct {
	path string
	// startedRun is set where an interrupted run of the same plan left its receipt
	// there: it stays when this run makes none.
	startedRun bool
}

// Open creates the receipt file before the first write to the cluster, so that
// a failure stops the run before anything changed. The file of an unfinished
// run of the same plan is used again; any other existing file is an error.
func (f *receiptFlag) Open(digest string) (*receiptFile, error) {
	if f.Path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(f.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|bounded.NoFollow, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if begun, err := f.Begun(); err == nil && begun != nil && begun.Digest == digest {
			return &receiptFile{path: f.Path, startedRun: true}, nil
		}
		if info, err := os.Lstat(f.Path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return &receiptFile{path: f.Path}, nil // of a run that was killed before it had one
		}
		return nil, planning.Usagef("--receipt %s: the file exists; receipts overwrite nothing", f.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("making the file for --receipt: %w", err)
	}
	return &receiptFile{path: f.Path}, file.Close()
}

// Begun returns the receipt that an interrupted run has left in the file, nil
// if there is none.
func (f *receiptFlag) Begun() (*record.Receipt, error) {
	if f.Path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(f.Path, os.O_RDONLY|bounded.NoFollow|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxReceipt))
	if err != nil {
		return nil, err
	}
	receipt := &record.Receipt{}
	if err := json.Unmarshal(data, receipt); err != nil {
		return nil, err
	}
	if receipt.State != string(record.Applying) {
		return nil, nil
	}
	return receipt, nil
}

// receiptFileAt returns the file at a path that a run has written to already.
func receiptFileAt(path string) *receiptFile { return &receiptFile{path: path} }

// Apply calls [install.Apply] and writes the receipt to the file. If the run
// made no receipt, the file is deleted.
func (f *receiptFile) Apply(ctx context.Context, p *preview.Plan, approval record.Approval, cluster install.Cluster, opts install.Options) (*record.Receipt, error) {
	if f == nil {
		return install.Apply(ctx, p, approval, cluster, opts)
	}
	opts.Keep = f.write
	return f.End(install.Apply(ctx, p, approval, cluster, opts))
}

// End writes the final receipt of a run, which ended with err, and returns
// both. If there is no receipt, the file is deleted.
func (f *receiptFile) End(receipt *record.Receipt, err error) (*record.Receipt, error) {
	switch {
	case f == nil:
		return receipt, err
	case receipt == nil && f.startedRun:
		return nil, err
	case receipt == nil:
		return nil, errors.Join(err, os.Remove(f.path))
	}
	return f.Keep(receipt, err)
}

// Keep writes the receipt of a run that ended with the error ended, and returns the
// receipt and the error, joined with any error of the file.
func (f *receiptFile) Keep(receipt *record.Receipt, ended error) (*record.Receipt, error) {
	err := f.write(receipt)
	switch {
	case err == nil:
		f.startedRun = true // a run that goes on with this one
		return receipt, ended
	case ended == nil: // what the plan was for did change
		return receipt, &install.Error{
			Kind: install.Failed, Operation: "writing the receipt", Cause: err.Error(),
			Advice: "the plan was carried out; history --revision, or plugin list -o json, shows the receipt on record", Err: err,
		}
	}
	return receipt, errors.Join(ended, fmt.Errorf("writing the receipt: %w", err))
}

// write replaces the content of the file with a receipt, atomically.
func (f *receiptFile) write(receipt *record.Receipt) error {
	data, err := json.MarshalIndent(receipt, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, append(data, '\n'), 0o600)
}
