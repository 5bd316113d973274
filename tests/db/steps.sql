-- The tables as the nineteen steps before 0.2.0 left them in SQLite.
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE people (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	disabled_at DATETIME, 
	CONSTRAINT pk_people PRIMARY KEY (id), 
	CONSTRAINT uq_people_name UNIQUE (name), 
	CONSTRAINT ck_people_role CHECK (role IN ('owner', 'annotator'))
);
CREATE TABLE links (
	id INTEGER NOT NULL, 
	secret_hash TEXT NOT NULL, 
	person_id INTEGER NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT pk_links PRIMARY KEY (id), 
	CONSTRAINT uq_links_secret_hash UNIQUE (secret_hash), 
	CONSTRAINT fk_links_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_links_created_by FOREIGN KEY(created_by) REFERENCES people (id)
);
CREATE TABLE sign_ins (
	id INTEGER NOT NULL, 
	secret_hash TEXT NOT NULL, 
	person_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	ended_at DATETIME, last_seen_at DATETIME, how TEXT DEFAULT '' NOT NULL, address TEXT DEFAULT '' NOT NULL, browser TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_sign_ins PRIMARY KEY (id), 
	CONSTRAINT uq_sign_ins_secret_hash UNIQUE (secret_hash), 
	CONSTRAINT fk_sign_ins_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
CREATE INDEX ix_sign_ins_person_id ON sign_ins (person_id);
CREATE TABLE projects (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	table_hash TEXT NOT NULL, 
	roles JSON NOT NULL, 
	settings JSON NOT NULL, 
	description TEXT NOT NULL, 
	n_rows INTEGER NOT NULL, 
	n_classes INTEGER NOT NULL, 
	n_to_ask INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	created_by INTEGER NOT NULL, 
	archived_at DATETIME, room JSON DEFAULT '{}' NOT NULL, deleted_at DATETIME, stop_rules JSON, source_hash TEXT, 
	CONSTRAINT pk_projects PRIMARY KEY (id), 
	CONSTRAINT fk_projects_created_by FOREIGN KEY(created_by) REFERENCES people (id)
);
CREATE TABLE entries (
	project_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	"row" INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	labels JSON NOT NULL, 
	person_id INTEGER NOT NULL, 
	token TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	target_seq INTEGER, 
	strategy TEXT, 
	score DOUBLE, 
	model_version INTEGER NOT NULL, 
	"before" JSON NOT NULL, 
	"after" JSON NOT NULL, 
	seconds DOUBLE, 
	note TEXT, 
	at DATETIME NOT NULL, predicted TEXT, flagged BOOLEAN DEFAULT 0 NOT NULL, asked JSON, 
	CONSTRAINT pk_entries PRIMARY KEY (project_id, seq), 
	CONSTRAINT uq_entries_token UNIQUE (project_id, token), 
	CONSTRAINT uq_entries_revision UNIQUE (project_id, person_id, "row", label, revision), 
	CONSTRAINT fk_entries_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_entries_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
CREATE INDEX ix_entries_target ON entries (project_id, target_seq);
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE INDEX ix_entries_row ON entries (project_id, "row", seq);
CREATE TABLE models (
	project_id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	figures JSON NOT NULL, 
	seconds DOUBLE NOT NULL, 
	made_at DATETIME NOT NULL, 
	CONSTRAINT pk_models PRIMARY KEY (project_id, "key", version), 
	CONSTRAINT fk_models_project_id FOREIGN KEY(project_id) REFERENCES projects (id)
);
CREATE TABLE comparisons (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	asked_by INTEGER, 
	asked_at DATETIME NOT NULL, 
	seq INTEGER NOT NULL, 
	answers INTEGER NOT NULL, 
	checks INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	fitting TEXT NOT NULL, 
	report JSON, 
	seconds DOUBLE, 
	fault TEXT, 
	ended_at DATETIME, 
	CONSTRAINT pk_comparisons PRIMARY KEY (id), 
	CONSTRAINT fk_comparisons_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_comparisons_asked_by FOREIGN KEY(asked_by) REFERENCES people (id)
);
CREATE INDEX ix_comparisons_project_id ON comparisons (project_id);
CREATE TABLE trainings (
	project_id INTEGER NOT NULL, 
	task TEXT NOT NULL, 
	worker TEXT NOT NULL, 
	lease_until DATETIME NOT NULL, 
	fault TEXT, 
	"key" TEXT DEFAULT '' NOT NULL, 
	ended BOOLEAN DEFAULT 1 NOT NULL, 
	deaths INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_trainings PRIMARY KEY (project_id, task), 
	CONSTRAINT fk_trainings_project_id FOREIGN KEY(project_id) REFERENCES projects (id)
);
CREATE TABLE encodings (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	asked_by INTEGER NOT NULL, 
	asked_at DATETIME NOT NULL, 
	encoder TEXT NOT NULL, 
	state TEXT NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	notes JSON NOT NULL, 
	fault TEXT, 
	ended_at DATETIME, 
	CONSTRAINT pk_encodings PRIMARY KEY (id), 
	CONSTRAINT fk_encodings_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_encodings_asked_by FOREIGN KEY(asked_by) REFERENCES people (id)
);
CREATE INDEX ix_encodings_project_id ON encodings (project_id);
CREATE TABLE members (
	project_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	role TEXT NOT NULL, 
	added_at DATETIME NOT NULL, 
	added_by INTEGER, 
	CONSTRAINT pk_members PRIMARY KEY (project_id, person_id), 
	CONSTRAINT ck_members_role CHECK (role IN ('owner', 'reviewer', 'annotator', 'viewer')), 
	CONSTRAINT fk_members_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_members_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_members_added_by FOREIGN KEY(added_by) REFERENCES people (id)
);
CREATE INDEX ix_members_person ON members (person_id, project_id);
CREATE TABLE groups (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_groups PRIMARY KEY (id), 
	CONSTRAINT uq_groups_name UNIQUE (name)
);
CREATE TABLE group_members (
	group_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	CONSTRAINT pk_group_members PRIMARY KEY (group_id, person_id), 
	CONSTRAINT fk_group_members_group_id FOREIGN KEY(group_id) REFERENCES groups (id), 
	CONSTRAINT fk_group_members_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
CREATE TABLE accounts (
	person_id INTEGER NOT NULL, 
	password_hash TEXT, 
	known_as TEXT, 
	subject TEXT, 
	CONSTRAINT pk_accounts PRIMARY KEY (person_id), 
	CONSTRAINT fk_accounts_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT uq_accounts_known_as UNIQUE (known_as), 
	CONSTRAINT uq_accounts_subject UNIQUE (subject)
);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	what TEXT NOT NULL, 
	person_id INTEGER, 
	about_id INTEGER, 
	project_id INTEGER, 
	details JSON NOT NULL, 
	address TEXT NOT NULL, 
	CONSTRAINT pk_events PRIMARY KEY (id), 
	CONSTRAINT fk_events_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_events_about_id FOREIGN KEY(about_id) REFERENCES people (id), 
	CONSTRAINT fk_events_project_id FOREIGN KEY(project_id) REFERENCES projects (id)
);
CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TABLE goals (
	project_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	answers INTEGER, 
	minutes INTEGER, 
	break_after INTEGER, 
	rested_at DATETIME, 
	reached_on TEXT, 
	CONSTRAINT pk_goals PRIMARY KEY (project_id, person_id), 
	CONSTRAINT fk_goals_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_goals_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
CREATE TABLE examples (
	project_id INTEGER NOT NULL, 
	"row" INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	note TEXT NOT NULL, 
	marked_by INTEGER NOT NULL, 
	marked_at DATETIME NOT NULL, 
	CONSTRAINT pk_examples PRIMARY KEY (project_id, "row"), 
	CONSTRAINT fk_examples_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_examples_marked_by FOREIGN KEY(marked_by) REFERENCES people (id)
);
CREATE TABLE qualifications (
	project_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	rows JSON NOT NULL, 
	given JSON NOT NULL, 
	n_right INTEGER NOT NULL, 
	began_at DATETIME NOT NULL, 
	passed_at DATETIME, 
	let_in_by INTEGER, 
	CONSTRAINT pk_qualifications PRIMARY KEY (project_id, person_id, attempt), 
	CONSTRAINT fk_qualifications_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_qualifications_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_qualifications_let_in_by FOREIGN KEY(let_in_by) REFERENCES people (id)
);
CREATE TABLE "questions" (
	project_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	"row" INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	token TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	strategy TEXT NOT NULL, 
	score DOUBLE NOT NULL, 
	model_version INTEGER NOT NULL, 
	decides INTEGER NOT NULL, 
	undecided INTEGER NOT NULL, 
	shown_at DATETIME NOT NULL, 
	reserved_at DATETIME NOT NULL, 
	predicted TEXT, 
	paused_at DATETIME, 
	reserved_until DATETIME NOT NULL, asked JSON, 
	CONSTRAINT pk_questions PRIMARY KEY (project_id, person_id), 
	CONSTRAINT fk_questions_person_id FOREIGN KEY(person_id) REFERENCES people (id), 
	CONSTRAINT fk_questions_project_id FOREIGN KEY(project_id) REFERENCES projects (id)
);
CREATE TABLE dispute_notes (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	"row" INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_dispute_notes PRIMARY KEY (id), 
	CONSTRAINT fk_dispute_notes_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_dispute_notes_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
CREATE INDEX ix_dispute_notes_row ON dispute_notes (project_id, "row", id);
CREATE TABLE random_orders (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	asked_by INTEGER, 
	asked_at DATETIME NOT NULL, 
	seq INTEGER NOT NULL, 
	answers INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	report JSON, 
	fault TEXT, 
	ended_at DATETIME, 
	CONSTRAINT pk_random_orders PRIMARY KEY (id), 
	CONSTRAINT fk_random_orders_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_random_orders_asked_by FOREIGN KEY(asked_by) REFERENCES people (id)
);
CREATE INDEX ix_random_orders_project_id ON random_orders (project_id);
CREATE TABLE batches (
	project_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	rows JSON NOT NULL, 
	strategy TEXT NOT NULL, 
	model_version INTEGER NOT NULL, 
	shown_at DATETIME NOT NULL, 
	reserved_until DATETIME NOT NULL, 
	taken_out JSON NOT NULL, 
	CONSTRAINT pk_batches PRIMARY KEY (project_id, person_id), 
	CONSTRAINT fk_batches_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_batches_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
CREATE TABLE identity (
	id TEXT NOT NULL, 
	CONSTRAINT pk_identity PRIMARY KEY (id)
);
CREATE TABLE past_settings (
	project_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	until_seq INTEGER NOT NULL, 
	until DATETIME NOT NULL, 
	settings JSON NOT NULL, 
	CONSTRAINT pk_past_settings PRIMARY KEY (project_id, number), 
	CONSTRAINT fk_past_settings_project_id FOREIGN KEY(project_id) REFERENCES projects (id)
);
CREATE TABLE snapshots (
	project_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	made_at DATETIME NOT NULL, 
	made_by INTEGER NOT NULL, 
	settings JSON NOT NULL, 
	model_version INTEGER, 
	sha256 TEXT NOT NULL, 
	log_sha256 TEXT NOT NULL, 
	CONSTRAINT pk_snapshots PRIMARY KEY (project_id, name), 
	CONSTRAINT fk_snapshots_project_id FOREIGN KEY(project_id) REFERENCES projects (id), 
	CONSTRAINT fk_snapshots_made_by FOREIGN KEY(made_by) REFERENCES people (id)
);
CREATE TABLE tokens (
	id INTEGER NOT NULL, 
	secret_hash TEXT NOT NULL, 
	person_id INTEGER NOT NULL, 
	purpose TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	ended_at DATETIME, 
	last_used_at DATETIME, 
	CONSTRAINT pk_tokens PRIMARY KEY (id), 
	CONSTRAINT uq_tokens_secret_hash UNIQUE (secret_hash), 
	CONSTRAINT fk_tokens_person_id FOREIGN KEY(person_id) REFERENCES people (id)
);
CREATE INDEX ix_tokens_person_id ON tokens (person_id);
