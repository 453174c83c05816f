package record

// StageStatus is how far a stage has got. The set is closed.
type StageStatus string

// The statuses of a stage.
const (
	StagePending   StageStatus = "pending"
	StageRunning   StageStatus = "running" // something of it was sent, and not all is as it should be
	StageSucceeded StageStatus = "succeeded"
	StageFailed    StageStatus = "failed"
)

// StageReceipt records what was observed of one stage. Rollback is set if the
// stage belongs to a rollback, by the command rollback or on failure. Log has a
// line for each object with a message.
type StageReceipt struct {
	ID       string      `json:"id"`
	Requires []string    `json:"requires"`
	Timeout  string      `json:"timeout"`
	Rollback bool        `json:"rollback"`
	Status   StageStatus `json:"status"`
	Log      []string    `json:"log"`
}

// stageReceipts computes the receipts of the stages from the receipts of their objects.
func (r *Record) stageReceipts() []StageReceipt {
	var out []StageReceipt
	for _, stage := range r.Stages {
		receipt := StageReceipt{
			ID: stage.ID, Requires: stage.Requires, Timeout: stage.Timeout,
			Rollback: stage.Rollback || r.Undoes != nil, Log: []string{},
		}
		var begun, open, failed bool
		for _, id := range stage.Objects {
			o := r.Object(id)
			if o == nil {
				continue
			}
			switch o.State {
			case StatePending:
				open = true
			case StateFailed, StateDiverged:
				begun, failed = true, true
			case StateSent, StateReleased, StateWaiting, StateRemoving:
				begun, open = true, true
			default:
				begun = true
			}
			if o.Message != "" {
				receipt.Log = append(receipt.Log, string(o.State)+" "+o.ID+": "+o.Message)
			}
		}
		switch {
		case failed:
			receipt.Status = StageFailed
		case !begun:
			receipt.Status = StagePending
		case open:
			receipt.Status = StageRunning
		default:
			receipt.Status = StageSucceeded
		}
		out = append(out, receipt)
	}
	return out
}
