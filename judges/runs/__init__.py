"""Runs: what is asked, by whom, and how nothing of it is lost or done twice (docs/decisions/0010-runs.md).

The life of one ask, and the file that it is in meanwhile:

    laid      write.start_run checks the scope and the budget; laying writes a row for each sample, unit and repeat,
              as the run's purpose says (purposes; canaries.write, proposals.write)
    waits     in PostgreSQL, the queue of record (queue); a message only says where there is work (work.wake)
    taken     by the one process that holds its place (places, work.work): endpoint_work for judges that ask a model,
              local_work for those that ask none. Taking it counts its fence up (queue.take)
    asked     open_run knows the run's kind, budget and limits; crew's threads ask: first for a reply that is kept
              (kept_replies), then at the endpoint, within the budget and at its pace (asking)
    answered  the reply is written as it comes (writer, storing.store_replies); outcomes is the gate between what the
              kind makes of it and what is kept as a value
    done      outcome and scores in one transaction, by the latest fence only (storing.store_outcomes); queue.finish
              ends the run when nothing is left, open_run.stop_run when it must not go on
    or lost   its process died: the next holder of the place frees it (queue.free), and after three deaths it is
              asked alone (queue.take_suspect)

A judge that asks no model does thousands of units a second, so its asks are laid when they are done
(local_work.Stretches). read says how far a run is.
"""
