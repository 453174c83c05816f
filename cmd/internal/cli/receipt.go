package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// receiptFlag keeps the receipt of an apply in a file, beside the record in the
// cluster.
type receiptFlag struct {
	path string
}

func (f *receiptFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "receipt", "", "write the receipt to this new file, of a run that failed too: what was approved, and what was observed of every object")
}

// receiptFile is where the receipt of one run goes; nil is nowhere.
type receiptFile struct {
	*os.File
}

// open makes the file before the first write, so that one that cannot be made
// stops nothing midway.
func (f *receiptFlag) open() (*receiptFile, error) {
	if f.path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, usagef("--receipt %s: the file exists; receipts overwrite nothing", f.path)
	}
	if err != nil {
		return nil, fmt.Errorf("making the file for --receipt: %w", err)
	}
	return &receiptFile{file}, nil
}

// apply is [install.Apply] with the receipt written to the file, which does not
// stay when there is none.
func (f *receiptFile) apply(ctx context.Context, p *preview.Plan, approval install.Approval, cluster install.Cluster, opts install.Options) (*install.Receipt, error) {
	receipt, applyErr := install.Apply(ctx, p, approval, cluster, opts)
	switch {
	case f == nil:
		return receipt, applyErr
	case receipt == nil:
		return nil, errors.Join(applyErr, f.Close(), os.Remove(f.Name()))
	}
	err := f.write(receipt)
	switch {
	case err == nil:
		return receipt, applyErr
	case applyErr == nil: // the cluster did change
		return receipt, &install.Error{
			Kind: install.Failed, Doing: "writing the receipt", Came: err.Error(),
			Next: "the plan was carried out; history --revision shows the receipt on record", Err: err,
		}
	}
	return receipt, errors.Join(applyErr, fmt.Errorf("writing the receipt: %w", err))
}

func (f *receiptFile) write(receipt *install.Receipt) error {
	encoder := json.NewEncoder(f)
	encoder.SetIndent("", "  ")
	return errors.Join(encoder.Encode(receipt), f.Sync(), f.Close())
}
