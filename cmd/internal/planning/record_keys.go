package planning

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
)

// RecordOptions choose the keys that sign and verify the records of releases.
type RecordOptions struct {
	Key string // a file; the configuration's where it is empty
	// Signs is set by commands that apply: they need the private key, where a key
	// is named at all.
	Signs bool
	// Approvers is the file of who may approve, by which signed approvals on record are
	// verified again; the configuration's where it is empty.
	Approvers string
}

// keyring caches the keys for records after they were read.
type keyring struct {
	read bool
	keys record.Keys
}

// SigningKeys returns the keys that [Planner.RecordKeys] has read; none before that.
func (p *Planner) SigningKeys() record.Keys { return p.keyring.keys }

// RecordKeys reads the keys for records from files, once per command.
func (p *Planner) RecordKeys(ctx context.Context) (record.Keys, error) {
	if p.keyring.read {
		return p.keyring.keys, nil
	}
	configured, err := p.env.Config()
	if err != nil {
		return record.Keys{}, err
	}
	var keys record.Keys
	for _, path := range configured.Records.Trusted {
		data, err := ReadSmallFile(path)
		if err == nil {
			var more []approval.PublicKey
			more, err = approval.ReadPublicKeys(data)
			keys.Trusted = append(keys.Trusted, more...)
		}
		if err != nil {
			return record.Keys{}, fmt.Errorf("reading records.trusted of the configuration: %s: %w", path, err)
		}
	}
	path, named := p.Records.Key, "--record-key"
	if path == "" {
		path, named = configured.Records.Key, "records.key of the configuration"
	}
	// A key may need a passphrase: who only reads is asked for none while other
	// keys are trusted.
	if path != "" && (p.Records.Signs || p.Records.Key != "" || len(keys.Trusted) == 0) {
		if err := p.readRecordKey(ctx, &keys, path, named); err != nil {
			return record.Keys{}, fmt.Errorf("reading %s: %s: %w", named, path, err)
		}
	}
	if keys.Approvers, err = recordApprovers(p.Records.Approvers, configured.Records.Approvers); err != nil {
		return record.Keys{}, err
	}
	p.keyring = keyring{read: true, keys: keys}
	return keys, nil
}

// recordApprovers reads who may approve from the file that the flag names, else the
// configuration; nil where neither does.
func recordApprovers(path, configured string) (*approval.Approvers, error) {
	named := "--record-approvers"
	if path == "" {
		path, named = configured, "records.approvers of the configuration"
	}
	if path == "" {
		return nil, nil
	}
	data, err := ReadSmallFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", named, err)
	}
	approvers, err := approval.ReadApprovers(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %s: %w", named, path, err)
	}
	return approvers, nil
}

func (p *Planner) readRecordKey(ctx context.Context, keys *record.Keys, path, named string) error {
	data, err := ReadSmallFile(path)
	if err != nil {
		return err
	}
	if block, _ := pem.Decode(bytes.TrimSpace(data)); block != nil && block.Type == "PUBLIC KEY" {
		if p.Records.Signs {
			return Usagef("%s %s is a public key, which signs nothing; name the private key to apply", named, path)
		}
		public, err := approval.ReadPublicKeys(data)
		keys.Trusted = append(keys.Trusted, public...)
		return err
	}
	key, err := approval.ReadKey(data, func() ([]byte, error) { return p.env.Passphrase(ctx, path) })
	if err != nil {
		return err
	}
	keys.Signer, keys.Trusted = key, append(keys.Trusted, key.Verifier())
	return nil
}

// toPlanFrom returns the record that a plan of a release starts from; see
// [record.ToPlanFrom]. err is the error of reading it.
func (p *Planner) toPlanFrom(ctx context.Context, release preview.Release, newest *record.Record, err error) (*record.Record, error) {
	if err != nil {
		return nil, err
	}
	keys, err := p.RecordKeys(ctx)
	if err != nil {
		return nil, err
	}
	identity := ""
	if len(keys.Trusted) > 0 {
		target, err := p.cluster.Target(ctx)
		if err != nil {
			return nil, err
		}
		identity = target.Identity
	}
	return record.ToPlanFrom(ctx, p.cluster, release, newest, keys, identity)
}

// Verified verifies the signature of a record, which may be nil, and the signed approvals
// in it; err, the error of reading the record, is returned as it is. Without trusted keys
// no signature of the record is verified, and the identity of the cluster is not read.
func (p *Planner) Verified(ctx context.Context, stored *record.Record, err error) (*record.Record, error) {
	if err != nil {
		return nil, err
	}
	keys, err := p.RecordKeys(ctx)
	if err != nil || stored == nil {
		return stored, err
	}
	if len(keys.Trusted) == 0 {
		stored.Verify(keys, "")
		return stored, nil
	}
	target, err := p.cluster.Target(ctx)
	if err != nil {
		return nil, err
	}
	stored.Verify(keys, target.Identity)
	return stored, nil
}
