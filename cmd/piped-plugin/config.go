package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/pipe-cd/piped-plugin-sdk-go"
)

// The types of the SDK for this plugin's configuration.
type (
	deployTarget = sdk.DeployTarget[targetConfig]
	source       = sdk.DeploymentSource[applicationSpec]
	stageInput   = sdk.ExecuteStageInput[applicationSpec]
)

// applicationSpec is the section of this plugin in the configuration of an application.
// It is read from the file itself, as the command line reads it.
type applicationSpec struct{}

// pluginConfig is the field config of the plugin in the configuration of piped. Its
// approval settings hold for every application, and no commit can change them.
type pluginConfig struct {
	// RequireApprovals is the number of signed approvals that a plan needs; 0 leaves the
	// decision to the stage of approval.
	RequireApprovals int `json:"requireApprovals"`
	// Approvers is the file that names who may sign, as for --approvers.
	Approvers string `json:"approvers"`
	// Plans is where plans are saved to be signed: a directory, or oci://HOST/REPO.
	Plans string `json:"plans"`
}

// UnmarshalJSON reads the configuration, and refuses unknown fields.
func (c *pluginConfig) UnmarshalJSON(data []byte) error {
	type plain pluginConfig
	if err := strict(data, (*plain)(c)); err != nil {
		return fmt.Errorf("the config of the plugin: %w", err)
	}
	switch {
	case c.RequireApprovals < 0:
		return errors.New("the config of the plugin: requireApprovals is less than 0")
	case c.RequireApprovals > 0 && (c.Approvers == "" || c.Plans == ""):
		return errors.New("the config of the plugin: requireApprovals needs approvers, the file of who may sign, and plans, where plans are saved to be signed")
	}
	return nil
}

// targetConfig is a deploy target: a context of a kubeconfig.
type targetConfig struct {
	Kubeconfig string `json:"kubeconfig"` // empty: as kubectl finds it
	Context    string `json:"context"`    // empty: the current one
	// Namespace is the namespace of releases that name none.
	Namespace string `json:"namespace"`
}

// UnmarshalJSON reads a deploy target, and refuses unknown fields.
func (c *targetConfig) UnmarshalJSON(data []byte) error {
	type plain targetConfig
	if err := strict(data, (*plain)(c)); err != nil {
		return fmt.Errorf("the config of a deploy target: %w", err)
	}
	return nil
}

// planConfig is the field with of the stage that plans.
type planConfig struct {
	// ExitOnNoChanges ends the deployment where nothing would change, so that nothing waits
	// for an approval. It has the name that the stage TERRAFORM_PLAN has for it.
	ExitOnNoChanges bool `json:"exitOnNoChanges"`
}

// readPlan reads the configuration of a stage that plans.
func readPlan(data []byte) (planConfig, error) {
	var c planConfig
	if err := strict(data, &c); err != nil {
		return c, fmt.Errorf("the field with of the stage: %w", err)
	}
	return c, nil
}

// approvalConfig is the field with of the stage that waits for an approval.
type approvalConfig struct {
	// Approvers are the names of piped's users who may approve; empty means everyone who
	// may there.
	Approvers []string `json:"approvers"`
	// MinApproverNum is the number of them who must; 0 means 1.
	MinApproverNum int `json:"minApproverNum"`
}

// readApproval reads the configuration of a stage of approval.
func readApproval(data []byte) (approvalConfig, error) {
	var c approvalConfig
	if err := strict(data, &c); err != nil {
		return c, fmt.Errorf("the field with of the stage: %w", err)
	}
	if c.MinApproverNum < 0 {
		return c, errors.New("the field with of the stage: minApproverNum is less than 0")
	}
	c.MinApproverNum = max(c.MinApproverNum, 1)
	if len(c.Approvers) > 0 && c.MinApproverNum > len(c.Approvers) {
		return c, fmt.Errorf("the field with of the stage: minApproverNum is %d of %d approvers", c.MinApproverNum, len(c.Approvers))
	}
	return c, nil
}

// strict reads JSON without unknown fields; empty text is no fields.
func strict(data []byte, into any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
