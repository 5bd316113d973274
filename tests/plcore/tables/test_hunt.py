"""Files in shapes that people post in public trackers, and their right reading, decided before the first try."""

from __future__ import annotations

import json
from csv import reader, writer
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from plcore.tables import (
    Doubt,
    LabelTable,
    TableError,
    TableReading,
    describe,
    find_doubts,
    read_cells,
    read_table,
    shaped,
    suggest_roles,
)
from tests.plcore.tables.test_wording import check_words

CASES = Path(__file__).with_name("cases") / "hunt"


@dataclass(frozen=True)
class Hunted:
    """A file of `cases/hunt`, and the expected result.

    classes, rows, learnt, truth : their number, the candidates of the first two rows (with weights, or yes and no, if
        there are such), the columns that models learn from, and that of true labels; rows is None for a refusal
    stops : the doubts that stop the import      told : other doubts, or words of the refusal
    """

    name: str
    classes: int = 0
    rows: list[str] | None = None
    learnt: tuple[str, ...] = ()
    truth: str | None = None
    stops: frozenset[str] = frozenset()
    told: str = ""


def right(
    name: str, classes: int, rows: list[str], learnt: str | tuple[str, ...], truth: str | None = None, told: str = ""
) -> Hunted:
    columns = (learnt,) if isinstance(learnt, str) else learnt
    return Hunted(name, classes, rows, columns, truth, told=told)


def asked(name: str, *stops: str) -> Hunted:
    return Hunted(name, rows=[], stops=frozenset(stops))


def refused(name: str, told: str) -> Hunted:
    return Hunted(name, told=told)


# fmt: off
HUNTED = [
    right("birdnet_pi_decimal_commas.csv", 3, ["Merle noir:0.81|Rougegorge:0.75|noise / nothing:0.19",
          "Merle noir:0.9|noise / nothing:0.1"], "week"),
    right("birdnetlib_one_recording.csv", 3, ["Blackbird:0.8|noise / nothing:0.2", "Wren:0.7|noise / nothing:0.3"],
          "start"),
    asked("votes_deleted_at.csv", "verdicts-on-votes"),
    right("birdnet_verified.csv", 3, ["Blackbird:0.8|noise / nothing:0.2", "Blackbird:1|Wren:1|noise / nothing:1"],
          "start", truth="truth"),
    asked("detections_confirmed.csv", "verdicts-on-labels"),
    asked("birdnetlib_verify_in_words.csv", "verdicts-on-labels"),
    right("kaleidoscope_of_birdnet_manual.csv", 4,
          ["Blackbird:0.8|Wren:0.01|noise / nothing:0.2", "Great Tit:0.7|noise / nothing:0.3"], "start", truth="truth"),
    right("birdnet_without_some_scores.csv", 4,
          ["Blackbird:0.8|Robin:0.8|noise / nothing:0.2", "Robin:1|Wren:1|noise / nothing:1"], "start"),
    right("holes_as_dots_of_sas.csv", 3, ["oak=1|elm=0", "elm=1|ash=0"], "text"),
    right("label_studio_min_data_last.jsonl", 2, ["Neg|Pos", "Neg"], "text"),
    right("label_studio_min_sorted_keys.json", 3, ["gut", "schlecht"], "text", told="nothing-to-ask"),
    right("timelapse_folder_levels.csv", 2, ["Luchs", "Luchs|Reh"], ("Anzahl", "Night", "Station"), told="no-media"),
    right("timelapse_root_alias.csv", 2, ["Fuchs", "Fuchs|Reh"], ("Projekt", "Standort"), told="no-media"),
    right("one_row_says_all_in_german.csv", 3, ["ash|elm", "ash|elm"], "note", told="several-meant"),
    right("map_with_null_scores.parquet", 2, ["oak:0.6", "elm:1"], "text"),
    right("doccano_members_one_empty.zip", 2, ["glad|sad", "sad"], "text"),
    right("run_facts_in_german.jsonl", 3, ["down:0.3|up:0.6", "down:0.6|flat:0.3"], "anfrage"),
    right("run_facts_in_french.jsonl", 3, ["down:0.3|up:0.6", "down:0.6|flat:0.3"], "texte"),
    right("kandidat_1_wert_1.csv", 3, ["Hund:0.7|Katze:0.3", "Hund:0.1|Katze:0.9"], "satz"),
    right("candidat_1_poids_1.csv", 3, ["chat:0.3|chien:0.7", "chat:0.9|chien:0.1"], "phrase"),
    right("kandidat_a_and_b.csv", 3, ["Hund|Katze", "Katze"], "satz"),
    refused("names_and_values_of_properties.csv", "No column holds the candidate labels"),
    right("log_probability_columns.csv", 3,
          ["oak:0.699982|elm:0.200008|ash:0.0999985", "oak:0.0999985|elm:0.800035|ash:0.0999985"], "text"),
    right("log_probability_columns_logp.csv", 2,
          ["oak:0.699982|elm:0.299992", "oak:0.0999985|elm:0.899964"], "text"),
    right("log_probabilities_and_truth.csv", 2,
          ["oak:0.699982|elm:0.299992", "oak:0.0999985|elm:0.899964"], "text", truth="label"),
    right("votes_in_rows_in_spanish.csv", 2, ["bueno|malo", "malo"], "texto"),
    right("votes_in_rows_in_french.csv", 2, ["bon|mauvais", "mauvais"], "phrase"),
    refused("birdnet_no_detection_at_all.zip", "None of the 2 tables in the zip has a row."),
    right("label_by_a_model.csv", 3, ["cat|dog", "dog|owl"], "text", told="labels-of-models"),
    asked("labels_by_models_and_people.csv", "labels-of-models"),
    asked("cells_by_a_model.csv", "labels-of-models"),
    asked("birdnet_reviewed_in_words.csv", "verdicts-on-labels"),
    asked("speciesnet_human_verified.json", "verdicts-on-labels"),
    right("source_of_each_class.csv", 2, ["cat:0.7|dog:0.3", "cat:0.7|dog:0.3"], "text"),
    right("predictions_beside_bits.csv", 2, ["cat=1|dog=0", "cat=0"], "text"),
    right("bits_beside_probabilities.csv", 3, ["cat=1|dog=0", "cat=0|owl=1"], "text"),
    asked("one_hot_beside_probabilities.csv", "labels-next-to-scores"),
    right("own_lines_of_lists.jsonl", 2, ["cat", "cat|dog"], "text"),
    right("label_studio_csv_emails.csv", 2, ["cat|dog", "dog"], "text"),
    right("labelled_by.csv", 3, ["cat|dog", "dog"], "text"),
    asked("people_agree_with_model.csv", "verdicts-on-labels"),
    right("prodigy_people_differ.jsonl", 2, ["cat|dog", "dog"], "text"),
    right("r_form_verify.csv", 2, ["Blackbird:0.8|noise / nothing:0.2", "Blackbird:1|noise / nothing:1"],
          "start", truth="truth"),
    right("speciesnet_verified.json", 3,
          ["badger:0.2|blank:0.3|red fox:0.7", "badger:0.3|blank:0.4|red fox:0.6"], "confidence", truth="truth"),
    refused("tag_is_verified.csv", "No column holds the candidate labels"),
    right("a_list_with_dashes.csv", 3, ["cat|dog", "dog"], "text"),
    right("a_numbered_list.csv", 3, ["cat|dog", "dog"], "text"),
    right("a_numbered_list_in_one_line.csv", 3, ["cat|dog", "dog"], "text"),
    right("airtable.csv", 3, ["cat|dog", "dog"], "Notes"),
    right("and_or.csv", 3, ["dog|fox", "cat"], "text"),
    right("annotator_columns_and_a_consensus.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("annotators_and_a_majority_vote.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("annotators_and_final_label.csv", 3, ["cat:2|dog:1", "dog:3"], "text", truth="final_label"),
    right("arena_votes.jsonl", 3, ["A|B", "A"], "prompt"),
    right("arxiv.jsonl", 2, ["cs.LG|stat.ML", "cs.LG"], ("abstract", "title")),
    right("best_guess_beside_a_list.csv", 3, ["cat|dog", "dog"], "text"),
    right("bilingual_names.csv", 2, ["cat / Katze|dog / Hund", "cat / Katze"], "text"),
    right("bilingual_names_with_bars.csv", 2, ["cat (Katze)|dog (Hund)", "cat (Katze)"], "text"),
    right("blanks_before_quotes.csv", 3, ["dog|fox", "cat"], " text"),
    right("braces_of_postgresql.csv", 3, ["cat|dog", "dog"], "text"),
    right("bulleted_texts_without_labels_column_name.csv", 3, ["cat|dog", "dog"], "notes"),
    right("candidates_with_logprobs.jsonl", 3, ["dog:0.904837|fox:0.332871", "cat:0.904837"], "text"),
    right("case_variants_and_blanks.csv", 4, ["Cat|dog", "cat"], "text", told="names-alike"),
    right("chest_findings.csv", 3, ["Edema|Mass", "No Finding"],
          ("Follow-up #", "Patient Age", "Patient Gender"), told="repeated-ids no-media"),
    right("chinese.csv", 3, ["账单|退款", "账单"], "文本"),
    right("chinese_full_width_bars.csv", 3, ["狗|猫", "狗"], "文本"),
    right("class_numbers_and_their_names.jsonl", 3, ["cat|dog", "dog"], "text", told="unmatched-truth"),
    right("class_numbers_in_lists.csv", 3, ["0|1", "1"], "text"),
    right("class_probs_in_an_object.jsonl", 2, ["cat:0.7|dog:0.3", "cat:0.2|dog:0.8"], "text"),
    right("codes_named_in_the_header.csv", 2, ["1", "1|2"], "text"),
    right("codes_of_bits_as_classes.csv", 2, ["ab01|cd10", "ab01"], "text"),
    right("colours_with_black_bear.csv", 3, ["black bear|brown bear", "brown bear"], "text"),
    right("columns_orient.json", 3, ["cat|dog", "dog"], "text"),
    right("comment_of_one_voter.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("counters.csv", 3, ["cat:3|dog:2", "dog:3"], "text"),
    refused("counts_with_minus_one.csv", "No column holds the candidate labels"),
    right("crowd_with_dont_know.csv", 3,
          ["I don't know:1|bird:2", "I don't know:1|bird:1|frog:1"], "text", told="nothing-as-class"),
    right("data_sets_of_hugging_face_without_names.jsonl", 3, ["0|2", "1"], "text"),
    right("dataturks.jsonl", 2, ["noise|speech", "noise"], "content"),
    right("dict_keys.csv", 3, ["cat|dog", "dog"], "text"),
    refused("either_alone.csv", "No column holds the candidate labels"),
    asked("either_or.csv", "mixed-separators"),
    right("emojis.csv", 3, ["😀|😡", "😀"], "text"),
    right("enums.csv", 3, ["cat|dog", "dog"], "text"),
    right("films.jsonl", 2, ["Comedy|Drama", "Drama"], "plot"),
    right("flags_beside_a_list.csv", 3, ["cat|dog", "dog"], "text"),
    right("flags_of_tweets.csv", 2, ["is_retweet=1|has_url=0", "is_retweet=0|has_url=0"],
          ("text", "verified"), told="nothing-to-ask"),
    asked("fractions_behind_names.csv", "graded-names"),
    right("french.csv", 3, ["carte|paiement", "carte"], "demande"),
    right("frozensets.csv", 3, ["cat|dog", "dog"], "text"),
    right("full_width_letters.csv", 3, ["cat|dog", "ｃａｔ"], "text", told="names-alike"),
    right("full_width_marks_and_shares.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("german.csv", 3, ["Karte|Zahlung", "Karte"], "Anfrage"),
    right("google_forms.csv", 3, ["cat|dog", "dog"], "Item"),
    right("grades.csv", 3, ["grade 1|grade 2", "grade 2"], "text"),
    right("grades_0_and_1.csv", 2, ["grade 0|grade 1", "grade 1"], "text"),
    right("ground_truth_multi.manifest", 3, ["1", "0|2"], "source"),
    right("hashtags.csv", 3, ["cat|dog", "dog"], "text"),
    right("hashtags_beside.csv", 3, ["cat|dog", "dog"], ("text", "hashtags")),
    right("html_and_its_text.csv", 3, ["cat|dog", "dog"], "body_html"),
    right("hybrids.csv", 3, ["Mallard|Mallard x Pintail", "Mallard"], "text"),
    right("icd_codes.csv", 2, ["E11.9|J45.9", "J45.9"], "text"),
    right("index_of_pandas.csv", 3, ["cat|dog", "dog"], "text"),
    right("index_orient.json", 3, ["cat|dog", "dog"], "text"),
    right("japanese.csv", 3, ["請求|返金", "請求"], ("問い合わせ", "備考")),
    right("japanese_dots.csv", 3, ["犬|猫", "犬"], "text"),
    right("job_codes_and_scores.csv", 6, ["35-1011:0.1|35-2014:0.8", "29-1141:0.7|31-1014:0.2"], "text"),
    asked("julia_with_missing.csv", "nothing-as-class"),
    right("kaggle_tags_of_comments.csv", 3, ["toxic=1|obscene=0|insult=0", "toxic=0|obscene=0|insult=1"],
          "comment_text", told="nothing-to-ask"),
    right("knime.csv", 3, ["cat:0.07|dog:0.42|fox:0.51", "cat:0.38|dog:0.13|fox:0.49"], "text"),
    right("kobo_with_both_forms.csv", 3, ["animals/cat|animals/dog", "animals/dog"], "note"),
    right("korean.csv", 3, ["카드|환불", "카드"], "문장"),
    right("label_and_label_set.csv", 3, ["cat|dog", "dog"], "text"),
    right("label_or_list_of_labels.jsonl", 3, ["cat|dog", "dog"], "text"),
    right("label_counts_of_chaosnli.jsonl", 3, ["e:76|n:24", "n:90|c:10"], "premise"),
    right("label_studio_csv_with_two_questions.csv", 3, ["cat", "dog|fox"], "text"),
    refused("labels_and_their_people.jsonl", "the lists below 'dog', 'fox', 'cat' hold the same texts"),
    right("labels_as_elements.csv", 3, ["dog|fox", "cat"], "text"),
    asked("labels_of_each_annotator.csv", "several-questions"),
    right("labels_of_instructor.jsonl", 2, ["cat|dog", "dog"], "text"),
    right("labels_of_people_in_an_object.jsonl", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("latin_and_common_names.csv", 3,
          ["Erithacus rubecula (European Robin)|Turdus merula (Common Blackbird)",
           "Erithacus rubecula (European Robin)"], "notes"),
    right("lettered_choices.csv", 2, ["A. cat|B. dog", "A. cat"], "text"),
    right("libsvm_with_several_labels.txt", 3, ["0|1", "1"], ("x1", "x2", "x3")),
    right("lists_in_parentheses.csv", 3, ["dog|fox", "cat"], "text"),
    asked("lists_and_scores_of_numpy.csv", "scores-elsewhere"),
    right("lists_of_paths_with_colons.csv", 4, ["Animal::Bird::Wren", "Animal::Bird::Owl|Animal::Mammal::Cat"], "text"),
    right("lists_of_paths_with_greater.csv", 4,
          ["Animal > Bird > Wren", "Animal > Bird > Owl|Animal > Mammal > Cat"], "text"),
    right("lists_of_paths_with_slash.csv", 4, ["Animal/Bird/Wren", "Animal/Bird/Owl|Animal/Mammal/Cat"], "text"),
    right("low_and_high_risk.csv", 2, ["high risk|low risk", "low risk"], "text"),
    right("models_and_their_ensemble.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("models_as_columns.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("multiple_choice.jsonl", 3, ["cat|dog|owl", "cat|dog|owl"], "question", truth="answer"),
    right("multiple_choice_with_index.jsonl", 2, ["cat|dog", "cat|dog"], "question", told="unmatched-truth"),
    right("multiple_choice_with_letters.jsonl", 2, ["A. cat|B. dog", "A. cat|B. dog"],
          "question", told="unmatched-truth"),
    right("names_in_p.csv", 2, ["cat:0.7|dog:0.3", "cat:0.2|dog:0.8"], "text"),
    right("names_in_quotes.csv", 3, ["cat|dog", "dog"], "text"),
    right("names_of_numpy_2.csv", 3, ["cat|dog", "dog"], "text"),
    asked("negations.csv", "several-meant"),
    right("no_quotes_in_brackets.csv", 3, ["cat|dog", "dog"], "text"),
    right("none_of_the_above.csv", 4, ["cat|dog", "none of the above"], "text", told="several-meant"),
    right("normal_forms.csv", 2, ["bar|café", "café"], "text"),
    right("notion.csv", 3, ["cat|dog", "dog"], "Notes"),
    right("number_of_candidates_beside.csv", 3, ["cat|dog", "dog"], "text"),
    right("numbered_paragraphs_as_text.csv", 3, ["cat|dog", "dog"], "notes"),
    right("numpy_arrays_by_repr.csv", 3, ["cat|dog", "dog"], "text"),
    right("numpy_arrays_over_lines.csv", 3, ["cat|dog", "dog"], "text"),
    right("one_prompt_in_all_rows.csv", 3, ["cat|dog", "dog"], "tweet"),
    right("options_and_chosen.csv", 3, ["cat|dog|owl", "cat|dog|owl"], "text", truth="chosen"),
    right("other_free_text.csv", 4, ["cat|other: my ferret", "other: a newt"], "text"),
    right("pairs.csv", 3, ["cat:0.75|dog:0.25", "dog:0.75"], "text"),
    right("pandas_index_and_lists.csv", 3, ["cat|dog", "dog"], "text"),
    right("paths_as_labels_colons.csv", 4, ["Animal::Bird::Wren", "Animal::Bird::Owl"], "text", told="nothing-to-ask"),
    right("paths_as_labels_dot.csv", 4, ["Animal.Bird.Wren", "Animal.Bird.Owl"], "text", told="nothing-to-ask"),
    right("paths_as_labels_greater.csv", 4, ["Animal > Bird > Wren", "Animal > Bird > Owl"],
          "text", told="nothing-to-ask"),
    right("paths_as_labels_slash.csv", 4, ["Animal/Bird/Wren", "Animal/Bird/Owl"], "text", told="nothing-to-ask"),
    right("paths_as_labels_underscore.csv", 4, ["Animal_Bird_Wren", "Animal_Bird_Owl"], "text", told="nothing-to-ask"),
    right("people_and_their_majority.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    refused("percent_with_decimal_commas.csv", "No column holds the candidate labels"),
    right("percentages_behind_blanks.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("percentages_in_brackets.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("plurals.csv", 4, ["cat|dogs", "cats"], "text"),
    right("predictions_of_five_folds.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("probabilities_in_an_object.jsonl", 2, ["cat:0.7|dog:0.3", "cat:0.2|dog:0.8"], "text"),
    asked("probabilities_of_each_fold.csv", "several-questions"),
    asked("question_marks_and_dashes.csv", "nothing-as-class"),
    right("quoted_texts.csv", 3, ["cat|dog", "dog"], "quote"),
    right("r_with_decimal_commas.csv", 3, ["cat|dog", "dog"], ("text", "weight_g")),
    right("ranks_before_names_with_points.csv", 3, ["cat|dog", "dog"], "text"),
    right("raters_with_comments.csv", 3, ["cat", "dog"], "text"),
    right("raters_with_confidences.csv", 3, ["cat", "dog"], "text"),
    right("raters_with_na.csv", 3, ["cat", "dog"], "text", told="read-as-empty"),
    right("raters_with_stars_and_a_mean.csv", 5, ["1:1|3:1|5:1", "3:1|4:1|5:1"], "text"),
    right("ratings.csv", 4, ["4|5", "5"], "text"),
    right("redcap_checkboxes.csv", 3, ["animal___1|animal___2", "animal___2"], "note"),
    right("rtl_names.csv", 2, ["قطة|كلب", "كلب"], "text"),
    asked("scores_in_texts_of_a_list.jsonl", "graded-names"),
    right("scores_of_numpy_2.csv", 3, ["cat:0.75|dog:0.25", "dog:0.75"], "text"),
    refused("rejected_labels_alone.jsonl", "No column holds the candidate labels"),
    refused("scores_without_a_word.csv", "'cat', 'dog', 'owl' may be one score for each label"),
    refused("scores_mostly_0.csv", "'wren', 'robin', 'jay', 'crow' and 2 more may be one score for each label"),
    right("sets.csv", 3, ["cat|dog", "dog"], "text"),
    right("severity_as_classes.csv", 3, ["high|medium", "low"], "text"),
    right("shares_behind_arrows.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shares_behind_at_signs.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shares_behind_blanks.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shares_behind_dashes.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shares_below_each_other.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shares_called_p.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shares_in_brackets.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shares_in_square_brackets.csv", 3, ["cat:0.75|dog:0.25", "dog:1"], "text"),
    right("shortlist_in_an_object.jsonl", 3, ["robin:0.4|wren:0.6", "robin:1"], "text"),
    right("short_quoted_texts.csv", 3, ["cat|dog", "dog"], "w"),
    right("spacy_cats.jsonl", 2, ["POS", "NEG"], "text"),
    right("spanish_votes.csv", 3, ["pago|tarjeta", "tarjeta"], "consulta"),
    right("split_orient.json", 3, ["cat|dog", "dog"], "text"),
    right("stackoverflow.csv", 2, ["pandas|python", "pandas"], "Title"),
    right("table_orient.json", 3, ["cat|dog", "dog"], "text"),
    right("tags_in_angle_brackets.csv", 3, ["cat|dog", "dog"], "text"),
    right("tags_said_in_german_excel.csv", 3, ["cat|dog", "dog"], "text"),
    right("tags_said_in_redcap.csv", 3, ["cat|dog", "dog"], "text"),
    right("tags_said_in_selected.csv", 3, ["cat|dog", "dog"], "text"),
    right("texts_in_brackets.csv", 3, ["cat|dog", "dog"], "scene"),
    right("thai.csv", 3, ["บัตร|เงิน", "บัตร"], "ข้อความ"),
    right("time_spans.csv", 2, ["1-2 h|2-4 h", "1-2 h"], "text"),
    asked("times_behind_names.csv", "graded-names"),
    right("title_and_body.csv", 3, ["cat|dog", "dog"], "body"),
    right("top_3_without_scores.csv", 3, ["cat|dog|owl", "cat|dog|owl"], "text"),
    right("top_k_of_keras.csv", 3, ["n0:0.8|n1:0.1", "n1:0.7|n2:0.2"], "text"),
    right("triple_colons.csv", 3, ["dog|fox", "cat"], "text"),
    right("true_and_false_by_label.jsonl", 3, ["dog|fox", "cat"], "text"),
    right("truth_called_labels_before_candidates.csv", 3, ["cat|dog", "dog"], "text", truth="labels"),
    right("tuples.csv", 3, ["cat|dog", "dog"], "text"),
    right("two_models.csv", 3, ["cat", "dog"], "text"),
    right("two_models_with_confidences.csv", 3, ["cat", "dog"], "text"),
    asked("undefined.csv", "nothing-as-class"),
    right("unknown.csv", 3, ["cat|dog", "unknown"], "text", told="several-meant"),
    right("versions.csv", 2, ["Python 2.7|Python 3.8", "Python 3.8"], "text"),
    right("voters_by_number_with_holes.csv", 3, ["cat:2|dog:2", "dog:4"], "text"),
    asked("votes_on_two_questions_in_rows.csv", "several-questions"),
    right("votes_with_names_in_an_object.jsonl", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("yes_no_maybe_of_raters.csv", 3, ["no:1|yes:2", "no:2|yes:1"], "text"),
    right("chexpert_with_few_uncertain.csv", 4,
          ["No Finding=1|Effusion=0|Fracture=0", "Edema=1|Fracture=0"], ("Age", "Sex", "Frontal/Lateral"),
          told="no-media"),
    right("appen_aggregated_trusted.csv", 3, ["pos:1", "neg:0.6667|neu:0.16665|pos:0.16665"], "text"),
    right("choices_in_a_question.jsonl", 3, ["A|B|C", "A|B|C"], "question.stem", truth="answerKey"),
    right("dicom_headers_with_findings.csv", 3, ["Effusion|Mass", "No Finding"],
          ("Report", "Modality", "ViewPosition", "PatientSex")),
    right("ecg_snomed.csv", 3, ["164889003|426783006", "426783006"], "text"),
    right("figure_eight_full.csv", 3, ["neg:0.8|pos:1.61", "neg:1.61"], "text"),
    right("grades_of_radiologists.csv", 5, ["0:3", "1:2|2:1"], "joint"),
    right("ground_truth_all_workers.manifest", 3, ["pos", "neg"], "source"),
    right("ground_truth_worker_response.json", 3, ["pos", "neg"], "content"),
    right("icd_lists_of_discharges.csv", 3, ["E11.9|I10", "I10"], "discharge_summary"),
    right("label_distribution_of_workers.jsonl", 3, ["neg|pos", "neg"], "sentence", truth="truth"),
    right("labelbox.ndjson", 3, ["pos", "neg"], "row_data"),
    right("labelbox_old.json", 3, ["pos", "neg"], "Labeled Data", told="nothing-to-ask"),
    right("padchest.csv", 3, ["cardiomegaly|pleural effusion", "normal"], "Report"),
    right("pathologists_and_reference.csv", 3, ["benign:3", "melanoma:2|nevus:1"], "history",
          truth="Reference diagnosis"),
    right("posts_with_annotators.json", 3, ["neg:1|pos:2", "neg:3"], "text"),
    right("readers_and_an_adjudicator.csv", 6, ["effusion", "normal"], "report", truth="adjudicator"),
    right("readers_and_consensus.csv", 6, ["effusion", "normal"], "report"),
    right("redcap_checkboxes_by_label.csv", 3,
          ["Symptom (choice=Cough)", "Symptom (choice=Cough)|Symptom (choice=Fever)"], "Note"),
    right("scale_categories.jsonl", 3, ["neg|neu|pos", "neg|neu|pos"], "params.attachment", truth="response.category"),
    right("zooniverse_question.csv", 2, ["No:1|Yes:2", "No:2|Yes:1"], "caption"),
    right("birads_by_readers.csv", 4, ["3:1|4:2", "4:1|5:2"], "age"),
    asked("attitudes_of_one_respondent.csv", "questions-as-voters"),
    asked("bit_strings.csv", "vectors-in-cells"),
    asked("cf_before_names.csv", "graded-names"),
    asked("chexpert.csv", "minus-one"),
    asked("counts_before_names.csv", "graded-names"),
    asked("counts_in_brackets_with_blanks.csv", "graded-names"),
    asked("google_forms_with_a_grid_of_items.csv", "questions-as-voters"),
    asked("how_sure_behind_colons.csv", "graded-names"),
    asked("how_sure_in_brackets.csv", "graded-names"),
    asked("kili.jsonl", "json-in-names", "votes-in-cells"),
    asked("likert_by_item.csv", "questions-as-voters"),
    asked("limesurvey.csv", "empty-or-no"),
    asked("lists_and_scores_in_two_columns.csv", "scores-elsewhere"),
    asked("multi_hot_floats.csv", "vectors-in-cells"),
    asked("multi_hot_floats_of_numpy.csv", "vectors-in-cells"),
    asked("multi_hot_lists.csv", "vectors-in-cells"),
    asked("multi_hot_of_numpy.csv", "vectors-in-cells"),
    asked("names_and_scores_with_bars_in_two_columns.csv", "scores-elsewhere"),
    asked("paths_as_labels_bar.csv", "paths-as-lists"),
    asked("paths_as_labels_comma.csv", "paths-as-lists"),
    asked("probably_before_names.csv", "graded-names"),
    asked("question_marks_before_names.csv", "graded-names"),
    asked("question_marks_behind_names.csv", "graded-names"),
    asked("ranks_before_names.csv", "graded-names"),
    asked("ranks_behind_colons.csv", "ranks-as-weights"),
    asked("ranks_in_objects.jsonl", "ranks-as-weights"),
    asked("shares_and_colons_before_names.csv", "graded-names"),
    asked("shares_before_names.csv", "graded-names"),
    asked("shares_behind_colons_with_blanks.csv", "graded-names"),
    asked("shares_between_names.csv", "graded-names"),
    asked("shares_of_one.csv", "graded-names"),
    asked("shares_with_blanks_everywhere.csv", "graded-names"),
    asked("slash_species_of_ebird.csv", "shared-words"),
    asked("spreadsheet_errors.csv", "formulas-as-labels"),
    asked("spss_99.csv", "missing-codes"),
    asked("spss_999.csv", "missing-codes"),
    asked("sqlcmd_dashes.csv", "second-header"),
    asked("tags_said_in_plus_and_minus.csv", "questions-as-voters"),
    asked("tags_said_in_positive.csv", "questions-as-voters"),
    asked("tags_said_in_x_and_a_dot.csv", "empty-or-no"),
    asked("tensors.csv", "vectors-in-cells"),
    asked("votes_in_a_list_with_repeats.csv", "votes-in-cells"),
    asked("votes_of_people_in_a_list.jsonl", "votes-in-cells"),
    asked("a_sheet_for_each_rater.xlsx", "more-sheets"),
    asked("ecg_statements_without_weights.csv", "weight-zero"),
    asked("findings_of_each_radiologist.csv", "votes-in-rows"),
    asked("redcap_two_checkbox_fields.csv", "several-questions"),
    refused("a_markdown_table.csv", "Line 1: column 1 of the header has no name"),
    refused("a_title_above.csv", "Line 1: column 2 of the header has no name"),
    refused("agreement_in_labels.csv", "None repeats a few words, as labels do: if nothing is labelled yet,"),
    refused("arbimon_validations.csv", "Column 'species' holds one label a row, such as 'Eleutherodactylus c"),
    refused("arff_with_one_nominal_class.arff", "Column 'class' holds one label a row, such as 'cat': a r"),
    refused("before_and_after.csv", "'label_old', 'label_new' hold the same words"),
    refused("birdclef.csv", "Row 1 (line 2), column 'primary_label': the true label 'amerob' is not among"),
    refused("blank_in_parentheses.csv", "Row 2 (line 3), column 'labels': the row has no candidate label"),
    refused("bounding_boxes.jsonl", "Column 'label' holds one label a row, such as 'cat': a row with one lab"),
    refused("chat_for_fine_tuning.jsonl", "'messages' holds objects or lists"),
    refused("coarse_and_fine.csv", "Column 'coarse' holds one label a row, such as 'animal': a row with on"),
    refused("coco_classes.json", "There is nothing to learn from"),
    refused("comments_above.csv", "Line 1: this line has 1 cell, and every row has 3."),
    refused("confidence_words_in_pairs.csv", "Column 'label_1' holds one label a row, such as 'cat', and "),
    refused("conll.conll", "None repeats a few words, as labels do"),
    refused("count_below.csv", "Row 13 (line 14), column 'text': the row ends before this column"),
    refused("count_columns_of_davidson.csv", "'offensive_language', 'neither' hold the same numbers"),
    refused("counts_of_species.csv", "Column 'site' holds one label a row, such as 'S1': a row with one labe"),
    refused("differential.csv", "Column 'dx3' holds one label a row, such as 'tinea': a row with one la"),
    refused("ebird_checklist.csv", "Column 'Common Name' holds one label a row, such as 'Downy/Hairy Wood"),
    refused("empty_brackets.csv", "Row 2 (line 3), column 'labels': the row has no candidate label"),
    refused("entities_by_name.jsonl", "'entities' holds objects or lists"),
    right("fasttext.txt", 3, ["cat|dog", "dog"], "text"),
    right("fasttext_with_commas.txt", 3, ["cat|dog", "dog"], "text"),
    right("fasttext_crlf_bom.txt", 2, ["elm|oak", "elm"], "text"),
    refused("fasttext_comma_behind_label.txt", "the label 'oak,' has no space behind it"),
    right("findings_present_absent.csv", 3, ["edema=1|effusion=0", "edema=0|effusion=0"], "report"),
    right("first_and_second_choice.csv", 3, ["cat|dog", "dog|owl"], "text"),
    refused("fsd_annotations.csv", "There is nothing to learn from: no column of numbers, categories or te"),
    right("german_probabilities.csv", 3, ["Katze:0.705|Hund:0.205|Eule:0.09", "Katze:0.1|Hund:0.8|Eule:0.1"], "Text"),
    refused("git_lfs.csv", "This is a pointer of Git LFS, not the file that it stands for"),
    refused("goemotions_by_rater.csv", "make one row for each item first"),
    refused("google_data_labelling.jsonl", "'annotations' holds objects or lists"),
    refused("ground_truth.manifest", "in which the answers of workers are joined to one class"),
    refused("inaturalist.csv", "'species_guess', 'common_name' hold the same words"),
    right("judges_with_verdicts.jsonl", 2, ["fail:2|pass:1", "fail:1|pass:2"], "response"),
    refused("label_and_reviewed_label.csv", "'label', 'reviewed_label' hold the same words"),
    refused("labelbox.csv", "'Label' holds objects or lists"),
    refused("lewidi.jsonl", "Column 'hard_label' holds one label a row, such as 'cat': a row with one label"),
    refused("lighttag.json", "'classifications' holds objects or lists"),
    right("lists_of_lists_of_pipelines.jsonl", 2, ["cat:0.9|dog:0.1", "cat:0.9|dog:0.1"], "text"),
    refused("log_probabilities_in_an_object.jsonl", "'logprobs.cat', 'logprobs.dog' may be one score for e"),
    refused("logits.csv", "'logit_cat', 'logit_dog' may be one score for each label, but some are below 0"),
    refused("mace_matrix.csv", "Column 'A3' holds one label a row, such as 'VERB', and so does 'A4': a"),
    refused("names_before_prob.csv", "'cat_prob', 'dog_prob' may be one score for each label"),
    refused("notebook.json", "Column 'source': only one label occurs, 'a=1', so there is nothing to deci"),
    refused("null_in_brackets.csv", "Row 2 (line 3), column 'labels': the row has no candidate label"),
    refused("null_in_parentheses.csv", "Row 2 (line 3), column 'labels': the row has no candidate label"),
    refused("null_of_mysql.csv", "Row 2 (line 3), column 'labels': the row has no candidate label"),
    refused("one_label_and_a_confidence.jsonl", "Column 'classification.label' holds one label a row"),
    refused("openai_tool_calls.jsonl", "There is nothing to learn from"),
    refused("opensoundscape_scores.csv", "None repeats a few words, as labels do: if nothing is labelled yet, na"),
    refused("pairwise_comparisons.csv", "There is nothing to learn from"),
    refused("pandas_double_columns.csv", "'label', 'label.1', 'label.2' hold the same words"),
    refused("pascal_voc.xml", "This is XML, not a table"),
    refused("people_with_stars.csv", "'Anna', 'Bert', 'Carla' hold the same numbers"),
    asked("percent_columns.csv", "percent-columns"),
    asked("percent_sign_before_columns.csv", "percent-columns"),
    asked("soil_percentages.csv", "percent-columns"),
    refused("plurality_with_votes.csv", "None repeats a few words, as labels do: if nothing is labelled yet,"),
    refused("qualtrics_with_three_heads.csv", "No two questions of the survey share their answers"),
    refused("ratings_pp_pnp.csv", "Column 'label' holds one label a row, such as 'Dog': a row with one la"),
    refused("redcap_double_entry.csv", "There is nothing to learn from"),
    refused("roboflow_classes_without_pictures.csv", "There is nothing to learn from"),
    refused("row_names.csv", "Line 1: every row has one cell more than the header, which has 2: R writes the "),
    refused("rows_of_the_data_set_viewer.json", "The file holds several tables"),
    refused("rubric_scores.jsonl", "None repeats a few words, as labels do: if nothing is labelled yet, na"),
    refused("s3_error.csv", "This is XML, not a table"),
    refused("satellite_tags.csv", "Column 'tags' holds one label a row, such as 'haze primary': a row wit"),
    refused("self_consistency_samples.jsonl", "'samples' holds objects or lists: if the label is inside, wri"),
    refused("serengeti_raw.csv", "Column 'Species' holds one label a row, such as 'zebra': a row with on"),
    refused("soft_labels_as_lists.jsonl", "'soft_label' holds objects or lists"),
    refused("sonobat.txt", "'HiF', 'LoF' hold the same numbers: if each is someone's vote, choose"),
    refused("spans_as_rows.csv", "Column 'doc_id' holds one label a row, such as 'd0': a row with one la"),
    refused("spans_of_entities.jsonl", "'label' holds objects or lists"),
    refused("sql.sql", "This is a dump of SQL, not a table"),
    right("people_in_captions.csv", 3, ["Ann Lee|Bob Ray", "Bob Ray|Cy Orr"], "caption"),
    right("measured_mice_and_elo.csv", 3, ["low|mid", "high|mid"], ("elo", "count", "mouse_weight")),
    right("superannotate_ranks.csv", 3, ["cat|dog|owl", "cat|dog|owl"], "caption"),
    refused("surveymonkey.csv", "Line 1: column 4 of the header has no name."),
    refused("tags_said_in_chinese.csv", "'cat', 'dog', 'owl' say yes or no in every row"),
    refused("tags_said_in_french.csv", "'cat', 'dog', 'owl' say yes or no in every row"),
    refused("tags_said_in_german.csv", "'cat', 'dog', 'owl' say yes or no in every row"),
    refused("tags_said_in_on_off.csv", "'cat', 'dog', 'owl' say yes or no in every row"),
    refused("tags_said_in_russian.csv", "'cat', 'dog', 'owl' say yes or no in every row"),
    refused("tags_said_in_spanish.csv", "'cat', 'dog', 'owl' say yes or no in every row"),
    refused("tags_said_in_spss_1_and_2.csv", "'cat', 'dog', 'owl' hold the same numbers"),
    refused("text_and_category_in_csv.csv", "Column 'category' holds one label a row, such as 'cat': a ro"),
    refused("text_and_label.jsonl", "Column 'label' holds one label a row, such as '0': a row with one la"),
    refused("texts_alone.csv", "None repeats a few words, as labels do"),
    refused("token_probs.jsonl", "None repeats a few words, as labels do: if nothing is labelled yet, na"),
    refused("tokens_of_named_entities.jsonl", "'ner_tags' holds objects or lists"),
    refused("tokens_with_log_probabilities.jsonl", "'top_logprobs' holds objects or lists"),
    refused("trapper_classifications.csv", "Column 'deploymentID' holds one label a row, such as 'd1': a row wi"),
    refused("tweets_of_airlines.csv", "Column 'airline_sentiment' holds one label a row, such as 'negativ"),
    refused("two_coders_by_initials.csv", "'label_AB', 'label_CD' hold the same words"),
    refused("two_rounds.csv", "None repeats a few words, as labels do: if nothing is labelled yet, na"),
    refused("values_orient.json", "Row 1: the list holds a list, not an object"),
    refused("via.csv", "'file_attributes', 'region_shape_attributes', 'region_attributes' hold objects or li"),
    refused("wildlife_insights.csv", "Column 'class' holds one label a row, such as 'Mammalia', and so do"),
    refused("yaml.yaml", "This is YAML, not a table"),
    refused("zooniverse_classifications.csv", "There is nothing to learn from"),
    refused("zooniverse_reductions.csv", "'data.cat', 'data.owl' hold the same numbers"),
    refused("both_eyes.csv", "'level_left', 'level_right' hold the same numbers: if each is someone's vote"),
    refused("boxes_of_each_radiologist.csv", "But 'image_id' comes again: if each row is a vote"),
    refused("brat.ann", "This is a file of brat (standoff annotation)"),
    refused("cvat_tags.xml", "This is XML, not a table"),
    refused("datumaro.json", "This is a file of Datumaro, as CVAT exports it"),
    refused("diagnosis_paths.csv", "None repeats a few words, as labels do"),
    refused("dicom_headers.csv", "Column 'Modality' holds one label a row"),
    refused("ecg_statements.csv", "Row 5 (line 6), column 'scp_codes': all weights of the row are 0."),
    refused("encord.json", "This is an export of Encord"),
    refused("findings_by_report_labeler.csv", "There is nothing to learn from"),
    right("five_labels_and_gold_dash.csv", 3, ["e:2|n:1", "c:1|e:1|n:1"], "sentence", truth="gold_label"),
    refused("flags_of_each_worker.csv", "Of columns of yes and no, one a label, make one row for each item"),
    refused("galaxy_fractions.csv", "'t01_a03_star_fraction' may be one score for each label"),
    refused("ground_truth_boxes.manifest", "This is a manifest of SageMaker Ground Truth with boxes"),
    refused("ground_truth_text.manifest", "in which the answers of workers are joined to one class"),
    refused("icd_codes_in_rows.csv", "None repeats a few words, as labels do"),
    refused("identifications.csv", "But 'observation_id' comes again: if each row is a vote"),
    refused("inception_cas.json", "This is a document of INCEpTION (UIMA CAS JSON)"),
    right("jspsych.csv", 3, ["0:3", "1:2|2:1"], "stimulus"),
    refused("lesions.csv", "Column 'dx' holds one label a row"),
    right("nodules_of_four_readers.csv", 4, ["1:3", "2:3|3:1"], "notes"),
    refused("offence_by_worker.csv", "answers: 'intentYN', 'offensiveYN', 'whoTarget'. Fix: Call the column"),
    refused("one_hot_lesions.csv", "There is nothing to learn from"),
    right("prolific_pid_and_condition.csv", 3, ["neg:1|pos:2", "neg:3"], "item_text"),
    refused("psychopy.csv", "images or recordings that the file names, into one zip"),
    refused("relations_in_brackets.csv", "column 'relations': expected a list or an object of labels"),
    refused("seizure_experts.csv", "'gpd_vote', 'other_vote' may be one score for each label"),
    asked("snli_annotator_labels.jsonl", "votes-in-cells"),
    refused("superannotate.json", "This is a file of SuperAnnotate"),
    refused("tagtog.ann.json", "This is a file of tagtog"),
    refused("toloka_pool_with_banned.tsv", "There is nothing to learn from"),
    refused("v7_darwin.json", "This is a file of V7 (Darwin JSON)"),
    refused("webanno.tsv", "This is a file of WebAnno or INCEpTION (TSV)"),
    refused("zooniverse_survey.csv", "There is nothing to learn from"),
    asked("airtable_names_in_quotes.csv", "cut-quotes"),
    right("argilla_flat_with_suggestion.jsonl", 3, ["cat:2.7", "dog:2.7"], "text"),
    refused("asreview.csv", "Column 'asreview_label' holds one label a row, such as '1': a row with"),
    right("atlas_ti_quotations.csv", 3, ["cat|dog", "dog"], "Quotation Content"),
    refused("autolabel.csv", "'label', 'sentiment_label' hold the same words: if each is someone's v"),
    right("azure_custom_classes.jsonl", 2, ["cat:0.7|dog:0.3", "cat:0.7|dog:0.29"], "doc"),
    refused("batdetect2.csv", "Column 'class' holds one label a row, such as 'Myotis': a row with one"),
    asked("blast_hits.tsv", "paths-as-lists"),
    refused("celltypist.csv", "'predicted_labels', 'majority_voting' hold the same words"),
    refused("cleanlab_label_issues.csv", "'given_label', 'predicted_label' hold the same words: if each is someo"),
    right("cleanlab_multiannotator.csv", 3, ["cat:2", "dog:2|owl:1"], "text"),
    right("comprehend.jsonl", 2, ["cat:0.7|dog:0.3", "cat:0.7|dog:0.29"], "Text"),
    refused("covidence.csv", "'Reviewer A', 'Reviewer B' hold the same words: if each is someone's vote"),
    asked("header_twice_more.csv", "second-header"),
    right("google_forms_how_sure.csv", 4, ["Cat|Dog", "Dog"], "Describe what you saw"),
    right("github_issues.jsonl", 3, ["bug|ui", "ui"], ("body", "title"), told="repeated-ids"),
    refused("identifications_by_person.csv", "'id_by_ann', 'id_by_bo' hold the same words: if each is someone's vote"),
    refused("inaturalist_suggestions.jsonl", "'results' holds objects or lists: if the label is inside, write it int"),
    refused("jira_labels_twice.csv", "Line 1, column 'Labels': columns 4 and 5 of the header have the same n"),
    right("kobo_with_submitter.csv", 3, ["animals/cat|animals/dog", "animals/dog"], "note"),
    refused("label_and_runner_up.jsonl", "'label', 'runner_up' hold the same words: if each is someone's vote, c"),
    right("labels_and_times_of_people.csv", 3, ["cat:2|dog:1", "dog:2|owl:1"], "text"),
    right("votes_of_models_in_an_object.jsonl", 3, ["cat:3", "dog:3"], "text"),
    right("shortlist_with_reasons_and_usage.jsonl", 3, ["robin:0.6|wren:0.9", "wren:0.9"], "ticket"),
    refused("maxqda_segments.csv", "Column 'Document name' holds one label a row, such as 'd0'"),
    right("microsoft_forms.csv", 3, ["cat|dog", "dog"], "What did you see?"),
    refused("mturk_ratings_of_images.csv", "There is nothing to learn from: no column of numbers, categories or te"),
    refused("nvivo_matrix.csv", "'cat', 'dog' hold the same numbers: if each is someone's vote, choose "),
    refused("plantnet.json", "'query.images', 'results' hold objects or lists: if the label is insid"),
    refused("potato.jsonl", "If each row is one vote on an item, call the columns of item, person and vote"),
    refused("prodigy_binary.jsonl", "Column 'candidates': only one label occurs, 'SPAM', so there is nothin"),
    right("prodigy_choice_of_two.jsonl", 3, ["cat|dog|owl", "cat|dog|owl"], "text"),
    refused("prolific_wide.csv", "There is nothing to learn from: no column of numbers, categories or te"),
    right("pubmed_mesh.jsonl", 3, ["Humans|Mice", "Mice"], ("title", "abstract")),
    refused("rayyan.csv", "None repeats a few words, as labels do: if nothing is labelled yet, na"),
    right("rekognition.jsonl", 2, ["Cat:90.1|Dog:50.2", "Cat:89.1|Dog:50.2"], "caption"),
    right("responses_of_workers_and_final.csv", 3, ["cat:2|dog:1", "dog:2|owl:1"],
          "attachment", truth="final_response"),
    refused("setfit_probs.jsonl", "Column 'label' holds one label a row, such as '0', and so does 'label_"),
    refused("singler.csv", "Row 4 (line 5), column 'first.labels': the true label 'dog' is not amo"),
    right("snorkel_minus_one.csv", 2, ["0:1|1:1", "1:2"], "text"),
    right("spacy_llm_with_cost.jsonl", 2, ["cat:0.7|dog:0.3", "cat:0.69|dog:0.3"], "text"),
    right("ids_and_labels_of_annotators.csv", 3, ["cat:2|dog:1", "dog:2|owl:1"], "text"),
    right("top_k_pairs.jsonl", 3, ["cat:0.6|dog:0.3|owl:0.1", "cat:0.59|dog:0.3|owl:0.11"], "text"),
    refused("typeform_choices.csv", "None repeats a few words, as labels do: if nothing is labelled yet, na"),
    refused("units_below_the_header.csv", "Row 1 (line 2), column 'labels': the row has no candidate label. Fix: "),
    right("vertex_annotations.jsonl", 3, ["robin|wren", "wren"], "textContent"),
    right("vision_label_annotations.jsonl", 2, ["cat:0.9|dog:0.5", "cat:0.9|dog:0.5"], "text"),
    right("voters_called_by_number.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    asked("people_before_labels.csv", "people-in-names"),
    refused("wildtrax.csv", "Column 'species_code' holds one label a row, such as 'OVEN', and so do"),
    refused("zendesk_tags.csv", "Column 'tags' holds one label a row, such as 'billing refund': a row w"),
    right("zotero_tags.csv", 3, ["cat|dog", "dog"], ("Publication Year", "Abstract Note", "Title")),
    refused("langfuse_scores.jsonl", "Column 'scores': only one label occurs, 'helpful', so there is nothing"),
    right("label_studio_csv_without_dates.csv", 3, ["art|politics|sport", "art|politics|sport"], "comment"),
    right("run_costs_of_all_kinds.csv", 3, ["robin|wren", "wren"], ("text", "priority")),
    right("pictures_elsewhere_with_exif.csv", 3, ["robin|wren", "wren"],
          ("iso", "exposure", "temperature_c"), told="no-media"),
    refused("header_in_mid_file_of_numbers.csv", "got 'wing'. Fix: Remove the row: it repeats the header"),
    asked("last_row_sums.csv", "sum-row"),
    asked("last_row_summe.csv", "sum-row"),
    asked("raters_one_with_two_labels.csv", "mixed-separators"),
    asked("one_cell_is_json.csv", "json-in-names"),
    refused("minus_one_among_names.csv", "Row 3 (line 4), column 'labels': the row has no candidate label. The s"),
    refused("minus_one_among_lists.jsonl", "Row 3 (line 3), column 'labels': the row has no candidate label. The s"),
    asked("unlabeled_as_word.csv", "nothing-as-class"),
    right("raters_often_na.csv", 2, ["owl:1|wren:1", "owl:1|wren:1"], "text", told="read-as-empty"),
    refused("gbif_occurrence.tsv", "Column 'species' holds one label a row"),
    right("mlr3.csv", 2, ["cat:0.6|dog:0.4", "cat:0.62|dog:0.38"], "weight_g", truth="truth"),
    right("elasticsearch.json", 3, ["cat|dog", "dog"], "_source.body"),
    asked("firebase_flags.json", "empty-or-no"),
    asked("json_votes_lists_by_name.jsonl", "voter-as-list"),
    asked("json_rejected_flag.jsonl", "verdicts-on-labels"),
    asked("json_excluded_flag.jsonl", "verdicts-on-labels"),
    right("json_nll.jsonl", 3, ["cat|dog", "dog"], "text"),
    right("json_rank_key.jsonl", 4, ["cat|dog|fox", "dog|fox"], "text"),
    asked("csv_nll_cells.csv", "distances-as-weights"),
    asked("list_of_struct_distance.parquet", "scores-elsewhere"),
    asked("shared_genus_slash.csv", "shared-words"),
    right("genus_abbreviated.csv", 3, ["P. caeruleus|Parus major", "Parus caeruleus"], "note", told="names-alike"),
    right("sp_entries.csv", 3, ["Turdus merula|Turdus sp.", "Turdus sp."], "note", told="several-meant"),
    asked("grade_ranges_bars.csv", "ranges-as-classes"),
    asked("letter_ranges.csv", "ranges-as-classes"),
    asked("comparisons_in_cells.csv", "ranges-as-classes"),
    asked("excluded_with_bang.csv", "several-meant"),
    asked("excluded_with_minus.csv", "several-meant"),
    asked("all_but.csv", "several-meant"),
    asked("primary_with_star.csv", "graded-names"),
    asked("primary_in_markdown.csv", "graded-names"),
    asked("primary_in_words.csv", "graded-names"),
    asked("primary_in_html.csv", "graded-names"),
    right("html_lists.csv", 3, ["cat|dog", "dog"], "note"),
    asked("checks_and_crosses.csv", "graded-names"),
    right("r_vectors.csv", 3, ["cat|dog", "dog"], "text"),
    refused("r_vectors_character0.csv", "Row 4 (line 5), column 'labels': the row has no candidate label. Fix: "),
    right("r_lists.csv", 3, ["cat|dog", "dog"], "text"),
    right("r_named_numbers.csv", 3, ["cat:0.75|dog:0.25", "dog:0.75"], "text"),
    asked("r_factor_levels.csv", "json-in-names"),
    asked("named_tuples.csv", "json-in-names", "people-in-names"),
    asked("genres_none_listed.csv", "nothing-as-class"),
    asked("two_tables_one_sheet.xlsx", "second-header"),
    asked("votes_for_and_against.csv", "several-labels-of-one", "verdicts-on-votes"),
    asked("votes_updown.csv", "several-questions"),
    asked("votes_agree_disagree.csv", "verdicts-on-votes"),
    asked("votes_deleted.csv", "verdicts-on-votes"),
    asked("votes_is_spam.csv", "verdicts-on-votes"),
    asked("votes_with_rank.csv", "several-labels-of-one"),
    asked("json_status_words.jsonl", "verdicts-on-labels"),
    asked("json_polarity.jsonl", "verdicts-on-labels"),
    right("json_votes_key.jsonl", 4, ["cat:3|dog:1|fox:1", "dog:3|fox:1"], "text"),
    asked("json_count_key.jsonl", "scores-elsewhere"),
    asked("braintrust.jsonl", "voter-as-list"),
    right("google_checkbox_commas.csv", 5, ["Sometimes|Yes|always", "Sometimes"], "Tell us more", told="split-apart"),
    right("qualtrics_select_text.csv", 3, ["cat|dog", "dog"], "Q2"),
    asked("energy_cells.csv", "distances-as-weights"),
    asked("csv_logits_positive.csv", "logits-as-weights"),
    right("choices_and_answer_idx.csv", 3, ["cat|dog|owl", "cat|dog|owl"], "question"),
    right("candidates_and_correct_number.csv", 3, ["cat|dog", "dog"], "weight_g"),
    right("is_error_beside.csv", 3, ["cat|dog", "dog"], "text"),
    right("agree_and_raters.csv", 3, ["cat|dog", "dog"], "text"),
    right("excel_serial_dates.csv", 3, ["cat|dog", "dog"], "Gewicht_g"),
    asked("corrected_arrows.csv", "mixed-separators"),
    asked("votes_repeated_unequal.csv", "votes-in-cells"),
    asked("thousands_points_german.csv", "thousands"),
    right("german_answers_by_number.csv", 3, ["Hund:1|Katze:2", "Hund:3"], "Beschreibung", truth="richtig"),
    asked("spanish_not_sure.csv", "nothing-as-class"),
    asked("german_not_sure.csv", "nothing-as-class"),
    right("zoo_question_arrays.csv", 3, ["cat:1|dog:2", "dog:2"], "caption"),
    right("answers_in_sentences.zip", 3, ["The answer is cat.", "The answer is dog."],
          "text", told="nothing-to-ask prose-in-names"),
    right("answers_that_cannot_tell.zip", 4, ["cat", "I cannot determine the label."],
          "text", told="nothing-to-ask prose-in-names"),
    right("answers_with_alternatives.zip", 3, ["cat:0.8|dog:0.2", "dog:0.8|owl:0.2"], "text"),
    right("answers_after_a_word.zip", 6, ["Labels: cat, dog", "Labels: dog"],
          "text", told="nothing-to-ask prose-in-names"),
    right("pandas_two_indexes.csv", 3, ["cat|dog", "dog"], "weight_g"),
    right("reset_index_levels.csv", 3, ["cat|dog", "dog"], "weight_g"),
    right("counts_after_n.csv", 3, ["cat:3|dog:1", "dog:3"], "note", told="numbers-as-weights"),
    asked("counts_behind_blanks.csv", "graded-names"),
    asked("verdict_signs_before.csv", "several-meant"),
    asked("json_label_to_person.jsonl", "labels-as-voters"),
    right("model_column_beside.csv", 3, ["cat|dog", "dog"], "text"),
    right("id_codes_as_numbers.csv", 3, ["cat|dog", "dog"], "temp_c"),
    right("double_encoded_json.csv", 3, ["cat|dog", "dog"], "title"),
    right("votes_and_total.csv", 2, ["cat:3|dog:1", "cat:3|dog:2"], "text"),
    right("prob_with_ci.csv", 2, ["cat:0.6|dog:0.4", "cat:0.6|dog:0.4"], "text"),
    right("score_and_threshold_columns.csv", 2, ["cat:0.6|dog:0.4", "cat:0.6|dog:0.4"], "text"),
    right("votes_and_winner.csv", 2, ["cat:3|dog:1", "cat:3|dog:2"], "text"),
    right("probs_and_argmax.csv", 2, ["cat:0.7|dog:0.3", "cat:0.7|dog:0.3"], "text"),
    right("voters_majority_and_tie.csv", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("json_percent_scores.jsonl", 4, ["cat:0.9|dog:0.1|fox:0.01", "dog:0.9|fox:0.1"], "text"),
    right("json_string_scores.jsonl", 4, ["cat:0.9|dog:0.1|fox:0.05", "dog:0.9|fox:0.1"], "text"),
    refused("vigie_chiro.csv", "Column 'tadarida_taxon' holds one label a row, such as 'Pippip', and s"),
    right("mbaza.csv", 3, ["cat:0.7|dog:0.2|owl:0.1", "cat:0.1|dog:0.7|owl:0.2"],
          "temperature", truth="label", told="no-media"),
    right("mlwic2.csv", 3, ["cat:0.7|dog:0.2|owl:0.1", "cat:0.1|dog:0.7|owl:0.2"],
          "site_alt_m", truth="answer", told="no-media"),
    refused("coralnet_suggestions.csv", "Row 2 (line 3), column 'Label': the true label 'Sand' is not among the"),
    right("argilla_1_prediction.jsonl", 3, ["cat:0.8|dog:0.2", "dog:0.8|owl:0.2"], "text", truth="annotation"),
    right("argilla_2_flat_users.jsonl", 3, ["cat:1.7|dog:1", "dog:2.7"], "text"),
    right("otree_wide.csv", 3, ["cat", "dog|owl"], "player.item"),
    right("lm_eval_samples.jsonl", 3, ["cat|dog|owl", "cat|dog|owl"], "doc.question", told="unmatched-truth"),
    right("bigquery_ml.jsonl", 2, ["cat:0.6|dog:0.4", "cat:0.62|dog:0.38"], "text", truth="label"),
    right("snorkel_named_lfs.csv", 2, ["0|1", "1"], "text"),
    right("wandb_table.json", 3, ["cat|dog", "dog"], "text"),
    right("map_scores.parquet", 3, ["cat:0.75|dog:0.25", "dog:0.75"], "text"),
    right("unicode_text_utf16.txt", 3, ["cat|dog", "dog"], "Notiz"),
    right("excel_sep_line.csv", 3, ["cat|dog", "dog"], "note"),
    right("portuguese_tags.csv", 3, ["cão|gato", "cão"], "frase"),
    right("wahr_falsch.csv", 3, ["Katze|Hund", "Hund"], "Text"),
    right("french_wide_probs.csv", 3, ["chat:0.6|chien:0.3|hibou:0.1", "chat:0.6|chien:0.3|hibou:0.1"], "phrase"),
    right("kaleidoscope_cluster.csv", 2, ["robin:0.555556|wren:0.833333", "robin:0.833333|wren:0.555556"],
          "start"),
    right("yaml_cells.csv", 3, ["cat:0.7|dog:0.2", "dog:0.7"], "title"),
    right("querystring_cells.csv", 3, ["cat:0.7|dog:0.2", "dog:0.7"], "title"),
    right("weak_label_words.csv", 3, ["cat:1|dog:1", "dog:2"], "text", told="read-as-empty"),
    asked("tags_initials.csv", "mixed-separators", "questions-as-voters"),
    asked("raters_99.csv", "missing-codes"),
    right("lengths_with_and_without_decimals.csv", 3, ["cat|dog", "dog"], "length_m"),
    right("grades_with_plus.csv", 4, ["0|1+", "1+"], "note"),
    right("rooms_by_number.csv", 4, ["Room 1|Room 2", "Room 2"], "note"),
    right("two_labels_of_one_at_a_time.csv", 3, ["cat:1|dog:2", "dog:2|owl:1"], "text"),
    right("functions_as_labels.csv", 3, ["len(x)|print(x)", "len(x)"], "snippet"),
    right("names_with_brackets.csv", 2, ["Gull(Common)|Gull(Herring)", "Gull(Common)"], "snippet"),
    right("stars_in_names.csv", 3, ["M 31|Sgr A*", "M 31"], "note"),
    right("scores_called_low_and_high.csv", 3, ["low:0.5|high:0.3|mid:0.2", "low:0.5|high:0.3|mid:0.2"], "note"),
    right("solution_unlike_the_majority.csv", 3, ["cat:2|dog:1", "dog:3"], "note", truth="solution"),
    asked("tags_and_scores_with_bars.csv", "scores-elsewhere"),
    right("ions.csv", 3, ["Cl-|Na+", "Cl-"], "note"),
    right("expected_label.csv", 3, ["cat|dog", "dog"], "input", truth="expected"),
    right("json_parallel_lists_cells.csv", 4, ["cat:0.7|dog:0.2|fox:0.1", "dog:0.7|fox:0.2"], "text"),
    right("comma_in_names_comma_lists.csv", 4, ["Song|Thrush|Wren", "Wren"], "title", told="split-apart"),
    right("tags_and_two_flags.csv", 4, ["cat=0|dog=0|is_blurry=1|is_night=1", "cat=1|dog=0|is_blurry=0|is_night=0"],
          "notes", told="nothing-to-ask"),
    right("count_words_beside_counts.csv", 2, ["cat:1", "cat:2|dog:2"], "text"),
    right("smiles.csv", 3, ["ALK|EGFR", "JAK2"], ("MW", "SMILES")),
    right("number_of_species_beside.csv", 3, ["Parus major|Turdus merula", "Parus major"], ("habitat_m", "ph")),
    right("running_window_of_a_sensor.csv", 3, ["run|walk", "sit"], ("acc_x_mean", "acc_z_std")),
    asked("slash_and_question_mark.jsonl", "mixed-separators"),
    refused("a_list_for_each_key.json", "There is nothing to learn from"),
    asked("votes_among_options.jsonl", "voter-as-list", "votes-in-cells"),
    right("pairs_by_letters.csv", 3, ["cat:0.6|dog:0.4", "dog:0.55|owl:0.45"], "text"),
    right("best_and_second.csv", 3, ["cat:0.6|dog:0.4", "dog:0.55|owl:0.45"], "text"),
    refused("people_by_letters.csv", "'label_a', 'label_b' hold the same words"),
    right("label_ids_and_all_names.jsonl", 3, ["0|2", "1"], "text"),
    asked("winners_as_labels.jsonl", "computed-truth"),
    right("ranking_with_shares.jsonl", 3, ["cat:0.6|dog:0.4", "dog:0.55|owl:0.45"], "text"),
    right("given_labels_and_probabilities.jsonl", 3, ["cat:0.6|dog:0.3|owl:0.1", "dog:0.55|owl:0.45"], "text"),
    right("scores_of_a_label_twice.csv", 3, ["badger:0.3|fox:0.6", "badger:0.6|deer:0.3"], "text", told="listed-twice"),
    right("candidates_with_a_label_twice.jsonl", 3, ["badger:0.3|fox:0.6", "badger:0.6|deer:0.3"], "text"),
    right("camtrap_two_of_a_kind.csv", 2, ["Meles meles:0.2|Vulpes vulpes:0.7"] * 2, "deploymentID"),
    right("audioset.csv", 3, ["/m/0bx|/m/0fx", "/m/0bx"], (" start_seconds", " end_seconds")),
    asked("coco_several_categories.zip", "several-categories"),
    right("coco_with_scores.zip", 3, ["badger:0.5|fox:0.8", "badger:0.8|deer:0.5"], (), told="inexact-paths"),
    right("paths_by_their_end.zip", 3, ["badger|fox", "badger|deer"], (), told="inexact-paths"),
    right("paths_without_their_ending.zip", 3, ["badger|fox", "badger|deer"], (), told="inexact-paths"),
    right("label_studio_and_its_pictures.zip", 3, ["badger|fox", "badger"], ()),
    right("votes_by_voter_in_cells.csv", 3, ["fox:3", "badger:3"], "text"),
    right("votes_of_users_in_cells.csv", 3, ["fox", "badger"], "text"),
    asked("label_to_person_in_cells.csv", "few-separators", "json-in-names", "people-in-names"),
    asked("raters_9.csv", "missing-codes"),
    right("agreement_in_spanish.csv", 3, ["fox:3", "badger:3"], "frase"),
    right("functions_and_probabilities.csv", 3, ["0:0.7|1:0.2|2:0.1"] * 2, "text"),
    right("functions_that_abstain.csv", 3, ["fox:2", "badger:2"], "text", told="read-as-empty"),
    right("percent_beside_each_guess.csv", 3, ["deer:0.7|fox:0.2", "badger:0.71|deer:0.19"], "text"),
    refused("a_class_called_x_and_a_zero.csv", "a row with one label is decided"),
    asked("expert_beside_annotators.csv", "expert-as-voter"),
    right("minus_9999_in_measurements.csv", 3, ["deer", "badger"], "temp", told="codes-as-numbers"),
    refused("objects_of_questions.csv", "holds objects or lists"),
    refused("objects_of_facts.csv", "holds objects or lists"),
    asked("objects_that_agree_by_chance.csv", "questions-as-voters"),
    right("votes_of_many_users.jsonl", 3, ["deer:3", "badger:3"], "text"),
    right("answers_and_their_dates.csv", 2, ["deer:3", "badger:3"], "comment"),
    right("rater_who_cannot_decide.csv", 4, ["can't decide:1|deer:2", "badger:3"], "text", told="nothing-as-class"),
    asked("joined_by_an_at_sign.csv", "mixed-separators"),
    asked("joined_by_xor.csv", "mixed-separators"),
    asked("joined_by_two_blanks.csv", "mixed-separators"),
    asked("joined_by_a_broken_bar.csv", "mixed-separators"),
    asked("html_entities_cut.csv", "cut-entities"),
    asked("counts_before_plurals.csv", "graded-names"),
    asked("dash_among_names.csv", "nothing-as-class"),
    right("stars_as_grades.csv", 2, ["2 stars", "1 star"], "note"),
    asked("labels_with_places.jsonl", "places-of-labels"),
    right("ranks_in_rows.csv", 3, ["cat|dog", "owl"], "text"),
    right("dedoose_excerpts.csv", 5, ["late", "billing|refund"], ("Excerpt Copy", "Media Title")),
    right("contains_flags.csv", 5, ["late", "billing|refund"], "text"),
    refused("openai_evals_samples.jsonl", "There is nothing to learn from"),
    right("inspect_ai.jsonl", 5, ["app|billing|late|praise|refund", "app|billing|late|praise|refund"], "input",
          truth="target"),
    right("transformers_pipeline.jsonl", 5, ["late:0.9", "billing:0.9|refund:0.6"], "text"),
    right("mlflow_eval_table.csv", 5, ["late", "billing|refund"], "inputs", truth="ground_truth"),
    right("langsmith_runs.csv", 5, ["late", "billing|refund"], "inputs.text", truth="reference_outputs.label"),
    right("dwc_previous.csv", 2, ["Carex acuta|Carex nigra", "Carex nigra"], "occurrenceRemarks",
          told="may-be-truth"),
    right("redcap_status_beside.csv", 2, ["dx___1=0|dx___2=0", "dx___1=1|dx___2=1"], "note", told="nothing-to-ask"),
    refused("fiftyone_samples.json", "There is nothing to learn from"),
    right("ollama_generate.jsonl", 5, ["late", "billing|refund"], "prompt"),
    right("encoded_target.csv", 5, ["late", "billing|refund"], "text"),
    asked("count_per_class.csv", "scores-elsewhere"),
    right("score_columns_percent.csv", 3, ["cat:0.7|dog:0.2|fox:0.1", "cat:0.69|dog:0.2|fox:0.11"], "text"),
    right("gorilla_texts.csv", 3, ["billing:1|late:1|refund:1", "billing:1|late:1|refund:1"], "text", truth="truth"),
    right("vertex_text_noheader.csv", 5, ["late", "billing|refund"], "item"),
    refused("vertex_image_multilabel.csv", "There is nothing to learn from"),
    refused("s3_list_noheader.csv", "There is nothing to learn from"),
    right("label_studio_min_rating.jsonl", 5, ["late", "billing|refund"], "text"),
    right("labelbox_multi.csv", 5, ["late", "billing|refund"], "Data Row"),
    right("hits_of_a_search.csv", 5, ["late", "billing|refund"], "query"),
    asked("devices_beside_sentiments.csv", "other-lists"),
    refused("hard_negatives_alone.csv", "No column holds the candidate labels; the columns are 'text'"),
    refused("nan_among_labels.csv", "holds null among the labels"),
    refused("nan_alone_in_a_list.csv", "the row has no candidate label"),
    refused("empty_sets.csv", "the row has no candidate label"),
    right("p_labels_beside_labels.mat", 3, ["0|1", "1"], ("x1", "x2", "x3"), truth="truth"),
    right("flags_and_models_beside.jsonl", 5, ["late", "billing|refund"], "text"),
    asked("underscores_between.csv", "mixed-separators"),
    asked("labels_aka.csv", "mixed-separators"),
    right("workers_hits.csv", 3, ["billing|late|refund", "billing|late|refund"], "text"),
    asked("tags_present_words.csv", "questions-as-voters"),
    right("preference_pairs_votes.csv", 2, ["A:2|B:1", "A:2|B:1"], ("prompt", "response_a", "response_b")),
    asked("one_row_of_percentages.csv", "graded-names"),
    right("percentages_behind_names.csv", 3, ["cat:0.6|dog:0.4", "cat:1"], "text"),
    asked("one_row_of_a_number.csv", "numbers-as-names"),
    asked("number_in_a_list.jsonl", "numbers-as-names"),
    asked("one_row_of_a_negation.csv", "several-meant"),
    asked("half_among_label_columns.csv", "almost-label"),
    asked("percentage_among_scores.csv", "scale-of-scores"),
    asked("number_among_votes.csv", "numbers-as-names"),
    refused("label_and_score_among_score_objects.jsonl", "no label has a score above 0 in this row"),
    right("arena_names_of_models.csv", 2, ["tie", "model_a|tie"], ("prompt", "response_a", "response_b")),
    right("radiologists_named.csv", 3, ["present:3", "absent:2|present:1"], "history", told="several-meant"),
    right("lesion_readers.csv", 3, ["present:3", "absent:2|present:1"], "history"),
    right("truth_at_1.csv", 5, ["late", "billing|refund"], "text"),
    right("annotations_of_people_with_lists.jsonl", 3, ["cat:2|dog:1", "dog:3"], "text"),
    right("ratings_of_people_in_lists.jsonl", 3, ["1:2|2:1", "2:3"], "text"),
    right("annotators_as_objects.jsonl", 3, ["cat:2|dog:1", "dog:3"], "text"),
    refused("spans_of_people.jsonl", "'annotations' holds objects or lists"),
    right("tags_called_payment.csv", 4,
          ["urgent=1|billing=0|payment=1", "urgent=0|billing=1|photo_id=1"], "ticket"),
    right("flags_called_is_payment.csv", 3, ["is_urgent|is_payment", "is_billing"], "ticket"),
    refused("labels_not_possible.csv", "No column holds the candidate labels"),
    right("votes_returned.csv", 3, ["cat", "dog"], "stimulus"),
    right("names_and_labels_of_annotators.csv", 3, ["cat|dog", "dog"], "text"),
    refused("labelme.json", "This is a file of LabelMe"),
    asked("votes_for_two_labels.csv", "mixed-separators"),
    asked("lists_of_each_annotator.jsonl", "votes-in-rows"),
    asked("numbers_of_labels_behind.csv", "ids-as-weights"),
    asked("numbers_of_labels_in_objects.jsonl", "ids-as-weights"),
    asked("levels_with_scores.csv", "paths-as-lists"),
    asked("levels_as_guesses.csv", "paths-as-lists"),
    asked("findings_positive_uncertain.csv", "questions-as-voters"),
    right("befund_ja_nein_unklar.csv", 3, ["Erguss=1|Ödem=1|Fraktur=1", "Ödem=1|Fraktur=0"], "Befund"),
    right("birdnetlib.csv", 3, ["Blackbird:0.7|Great Tit:0.2|noise / nothing:0.3"] * 2, "start"),
    right("codes_of_numbers_and_words.csv", 2, ["cat|dog", "dog"], ("text", "stage")),
    right("labels_and_scores_in_an_inner_object.jsonl", 3, ["cat:0.7|dog:0.2", "dog:0.7|fox:0.2"], "text"),
    right("megadetector_animal_and_person.json", 4, ["animal:0.8", "animal:0.4|person:0.8"], "confidence"),
    right("mturk_checkboxes_on.csv", 3, ["cat:2|dog:1", "dog:2|fox:1"], "Input.text"),
    right("mturk_radio_buttons_named_twice.csv", 3, ["cat:2|dog:1", "dog:2|fox:1"], "Input.text"),
    right("perch_segments.jsonl", 3, ["Blackbird:0.7|Great Tit:0.2|noise / nothing:0.3"] * 2, ("start", "recording")),
    right("tags_said_oui_non_nsp.csv", 4, ["mer=1|sable=0|colline=0|nuit=1"] * 2, "légende"),
    asked("lists_of_two_models.jsonl", "voter-as-list"),
    right("answers_with_one_alternative.zip", 3, ["cat|dog", "dog|owl"], "text"),
    asked("answers_with_commas.zip", "mixed-separators"),
    right("label_studio_csv_with_a_topic.csv", 2, ["Pos", "Neg"], "text", told="nothing-to-ask"),
    refused("deepfaune.csv", "'predictionbase', 'prediction', 'top1' hold the same words"),
    asked("joined_by_a_blank.csv", "mixed-separators"),
    asked("first_row_as_header.csv", "no-header"),
    asked("shares_in_names_of_a_list.jsonl", "weights-in-names"),
    right(
        "nli_premise_repeats.csv",
        3,
        ["entailment|neutral", "contradiction|neutral"],
        ("premise", "hypothesis", "genre"),
    ),
    right("adjudicated_where_votes_differ.csv", 3, ["cat:3", "dog:2|owl:1"], "text", truth="adjudicated"),
    right("consent_of_annotators.csv", 3, ["dog|owl", "cat|dog"], "text"),
    right("turkle_without_worker_ids.csv", 2, ["neg|pos", "pos"], "Input.text"),
    right("mturk_run_again.csv", 3, ["cat:2|dog:1", "dog:3"], "Input.text"),
    right("remark_of_the_coder.csv", 3, ["cat|dog", "dog"], "Meldung"),
    right("kaleidoscope_two_ids.csv", 4,
          ["MYOLUC:0.7|MYOSEP:0.3", "EPTFUS:0.7|LASNOC:0.3"], "start", truth="truth"),
    right("spanish_labels_and_scores.csv", 3, ["pago:0.2|queja:0.7", "envío:0.3|pago:0.6"], "comentario"),
    right("documents_and_probabilities.csv", 3,
          ["cat:0.2|dog:0.1|owl:0.7", "cat:0.7|dog:0.2|owl:0.1"], "text"),
    right("scores_and_their_difference.csv", 2, ["cat:0.7|dog:0.3", "cat:0.2|dog:0.8"], "text"),
    asked("times_behind_at_signs.csv", "graded-names"),
    right("two_rows_in_their_words.csv", 3, ["cat|dog", "dog"], "text"),
    right("response_is_the_text.csv", 3, ["No|Unsure|Yes", "No|Unsure|Yes"], "response", told="nothing-as-class"),
    right("readers_who_are_unsure.csv", 3, ["yes:3", "no:3"], "report", told="nothing-as-class"),
    right("demographics_of_participants.csv", 3, ["cat|dog", "dog"], "text"),
]
# fmt: on
LEFT_OUT = (
    "split",
    "label_code",
    "target_int",
    "superclass",
    "probability",
    "fold",
    "partition",
    "sample_weight",
    "sampling_weight",
    "date",
    "majority",
    "consensus",
    "agreement",
    "kappa",
    "n_votes",
    "num_annotators",
    "entropy",
    "label_count",
    "n_labels",
    "reviewer",
    "assigned_to",
    "is_gold",
    "version",
    "predicted",
    "model_prediction",
    "gpt4",
    "old_label",
    "line",
    "max_prob",
    "margin",
    "loss",
    "is_correct",
    "mean_rating",
    "difficulty_score",
    "batch_no",
    "row_number",
    "content_hash",
    "email",
    *(
        "elapsed_time",
        "duration_min",
        "time_spent_hours",
        "unix_time",
        "random_seed",
        "trial_index",
        "block",
        "session_number",
        "idx",
        "revisions",
    ),
    *("annotator_trust", "worker_quality", "age_of_rater", "coder_no", "worker_experience", "phone"),
    *("votes", "fleiss_kappa", "majority_share", "confidence_score", "logit", "perceived_difficulty", "score"),
    *("observer", "moderator", "annotator_group", "annotation_tool", "round", "license", "url", "filename", "comments"),
    *("tijd_sec", "duración_seg", "czas_s", "temps_de_réponse_s", "zekerheid", "pewność", "usd_spent", "tps"),
    *(
        "beoordelaar",
        "anotator",
        "annoteur",
        "geprüft",
        "revisado",
        "needs_review",
        "crowd_platform",
        "set",
        "lf_model",
    ),
    *("attention_check", "keystrokes", "mouse_moves", "approved", "flagged", "is_duplicate", "n_skips"),
    *("ttft_ms", "queue_ms", "n_prompt_toks", "cache_hit", "bm25_score", "clicked", "n_clicks", "TimeTaken", "y_enc"),
    *("is_label_issue", "edit_count", "payout_usd", "train_loss", "wall_time", "eval.f1", "data.correct", "sha256"),
)  # fmt: skip
KEPT = (
    "difficulty", "locale", "price", "char_count", "cluster", "followers", "height_px", "elevation", "sentiment_score",
    "author", "source", "habitat", "device",
)  # fmt: skip
PLACED = (
    "timestamp_ms", "created_utc", "gpu_ms", "slide", "page", "case", "sent_no", "Sr. No.", "#", "frame_idx",
    "lat", "position", "zip_code", "isbn", "bitrate", "size_kb", "n_annot", "percent_agreement", "top1_prob",
    "avg_logprob",
    "decimalLongitude", "xmin", "start_char", "end", "reading_time_ms", "schema_version", "iteration",
)  # fmt: skip
ABOUT_ANSWERS = (
    "reasoning", "rationale", "explanation", "chain_of_thought", "prompt", "raw_response", "justification", "thoughts",
    "model_output", "notes_of_annotator", "annotator_comment", "instructions", "result.reasoning", "llm_explanation",
)  # fmt: skip
FOUND = (
    "、", "，", "；", "، ", "#", " + ", "::", "~", "^", " - ", "\\", " und ", " y ", " vs. ", "<br>", ";;", " · ", "•",
)  # fmt: skip
"""Marks that people write between labels."""
ORDERED = {
    *("label_studio_csv_with_two_questions.csv", "kili.jsonl", "devices_beside_sentiments.csv"),
    "lists_of_two_models.jsonl",
    *("index_of_pandas.csv", "r_vectors.csv", "mlwic2.csv"),
}
"""Files that stop the import whatever question comes first, and some whose first column has no name: an index."""
SHOWN = {"camtrap_two_of_a_kind.csv": {"eventStart"}, "films.jsonl": {"title"}, "title_and_body.csv": {"title"}}
"""Captions: texts of few words and times; detections have a list of species."""
SETS = (("cat", "dog"), ("dog",), ("cat", "owl"), ("owl",), ("dog", "owl"), ("cat",))


def test_every_file_has_one_expected_reading() -> None:
    assert sorted(one.name for one in HUNTED) == sorted(path.name for path in CASES.iterdir())
    assert {one.name for one in HUNTED} >= ORDERED
    assert all(path.stat().st_size <= 2048 for path in CASES.iterdir())


def written(table: LabelTable, row: int) -> str:
    """The candidates of a row, with their weights, or yes and no, if there are such."""
    if table.label_vectors is not None:
        known = zip(table.classes, table.label_vectors[row].tolist(), strict=True)
        return "|".join(f"{name}={value}" for name, value in known if value >= 0)
    places = np.flatnonzero(np.asarray(table.candidates[row]))
    if table.candidate_weights is not None:
        return "|".join(f"{table.classes[k]}:{table.candidate_weights[row, k]:g}" for k in places)
    return "|".join(table.classes[k] for k in places)


@pytest.mark.parametrize("hunted", HUNTED, ids=lambda one: one.name)
def test_file_is_read_questioned_or_refused_as_expected(hunted: Hunted, tmp_path: Path) -> None:
    """Also with its columns in reverse order, which changes no reading."""
    if hunted.rows is None:
        with pytest.raises(TableError) as caught:
            read_all(CASES / hunted.name)
        assert hunted.told in str(caught.value)
        check_words([str(caught.value)])
        return
    reading, table, doubts = read_all(CASES / hunted.name)
    roles = table.roles
    check_words(
        [str(describe(table, reading.format)), *reading.notes, *(words for ask in reading.asks for words in ask[1:])]
    )
    check_words(map(str, doubts))
    read = what_is_read(reading, table, doubts)
    assert read[-1] == hunted.stops
    if not hunted.stops:
        assert [written(table, row) for row in range(2)] == hunted.rows
        assert len(table.classes) == hunted.classes
        learnt = {*roles.text_columns, *roles.numbers, *roles.categories} - {None}
        assert (roles.truth, learnt) == (hunted.truth, set(hunted.learnt))
        assert {*roles.caption} - {"scientific_names"} == SHOWN.get(hunted.name, set())
        assert {doubt.name for doubt in doubts} - {"unused"} == set(hunted.told.split())
    if hunted.name not in ORDERED and (changed := reversed_columns(hunted.name, tmp_path)):
        assert what_is_read(*read_all(changed)) == read


def read_all(file: Path) -> tuple[TableReading, LabelTable, list[Doubt]]:
    """The file, its table with every role guessed, and the doubts about it."""
    reading = shaped(read_table(file))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files, reading.arrays)
    return reading, table, find_doubts(table)


def what_is_read(
    reading: TableReading, table: LabelTable, doubts: list[Doubt]
) -> tuple[list[str], list[str], str | None, set[str]]:
    """The classes, rows, true labels and stops of a file."""
    rows = ["|".join(sorted(written(table, row).split("|"))) for row in range(len(table.ids))]
    stops = {ask[0] for ask in reading.asks} | {doubt.name for doubt in doubts if doubt.stops}
    return sorted(table.classes), rows, table.roles.truth, stops


def reversed_columns(name: str, folder: Path) -> Path | None:
    """Write a CSV file or JSON lines with the last column first; None for a file without columns."""
    if not name.endswith(("csv", "jsonl")):
        return None
    text = (CASES / name).read_text("utf-8-sig", errors="surrogateescape")
    changed = folder / name
    if name.endswith("csv"):
        lines = list(reader(text.splitlines(keepends=True)))
        if len({len(line) for line in lines}) != 1:
            return None
        with changed.open("w", newline="", errors="surrogateescape") as file:
            writer(file).writerows(line[::-1] for line in lines)
    else:
        records = [json.loads(line) for line in text.splitlines()]
        changed.write_text("\n".join(json.dumps(dict(reversed(record.items()))) for record in records))
    return changed


def csv(**columns: list[str]) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(f'"{cell}"' for cell in row) for row in rows), ""]).encode()


TEXTS = [f"a small bird sat near mill {7 * k + 3}" for k in range(12)]
LISTS = ["|".join(SETS[k % 6]) for k in range(12)]
CELLS = {
    "observer": ["Ann", "Bo"], "moderator": ["Ann", "Bo"], "annotator_group": ["a", "b"], "annotation_tool": ["a", "b"],
    "license": ["cc0", "by"], "url": ["x.example", "y.example"], "filename": ["a.wav", "b.wav"],
    "comments": ["odd", "ok"], "author": ["Ann", "Bo"], "habitat": ["reed", "wood"], "device": ["a", "b"],
    "date": ["2024-05-01", "2024-05-02"], "email": ["ann@a.example", "bo@b.example"], "gpt4": ["dog", "owl"],
    "split": ["train", "test"], "partition": ["a", "b"], "reviewer": ["Ann", "Bo"], "assigned_to": ["Ann", "Bo"],
    "version": ["v1", "v2"], "majority": ["dog", "owl"], "consensus": ["dog", "owl"], "predicted": ["dog", "owl"],
    "model_prediction": ["dog", "owl"], "old_label": ["dog", "owl"], "difficulty": ["easy", "hard"],
    "set": ["train", "dev", "test"], "beoordelaar": ["a", "b"], "anotator": ["a", "b"], "annoteur": ["a", "b"],
    "geprüft": ["ja", "nein"], "revisado": ["sí", "no"], "crowd_platform": ["a", "b"], "lf_model": ["dog", "owl"],
    "locale": ["de_DE", "en_GB"], "row_number": [str(k + 1) for k in range(12)],
}  # fmt: skip


@pytest.mark.parametrize("column", [*LEFT_OUT, *KEPT])
def test_column_next_to_text_is_a_feature_if_it_describes_the_item(column: str) -> None:
    values = CELLS.get(column, ["0.25", "0.5", "0.75", "1.5"])
    cells = [values[k % len(values)] for k in range(12)]
    roles = suggest_roles(read_cells(csv(text=TEXTS, labels=LISTS, **{column: cells})))
    assert (roles.candidates, roles.text, roles.truth) == ("labels", "text", None)
    assert (*roles.numbers, *roles.categories) == ((column,) if column in KEPT else ())


@pytest.mark.parametrize("column", PLACED)
def test_index_and_position_numbers_are_features_only_without_others(column: str) -> None:
    numbers = [str(7 * k % 5) for k in range(12)]
    roles = suggest_roles(read_cells(csv(text=TEXTS, labels=LISTS, **{column: numbers, "wing_mm": numbers[::-1]})))
    assert (roles.text, roles.numbers) == ("text", ("wing_mm",))
    assert suggest_roles(read_cells(csv(labels=LISTS, **{column: numbers}))).numbers == (column,)


@pytest.mark.parametrize("column", ["is_duplicate", "flagged", "phone", "score", "trial", "notes", "url", "votes"])
def test_column_that_rarely_describes_the_item_may_be_labels(column: str) -> None:
    bits = {"cat": ["0", "1", "", "1"] * 3, column: ["1", "", "0", "1"] * 3, "dog": ["", "0", "1", "1"] * 3}
    assert suggest_roles(read_cells(csv(text=TEXTS, **bits))).label_columns == tuple(bits)
    assert suggest_roles(read_cells(csv(text=TEXTS, **{column: LISTS}))).candidates == column


@pytest.mark.parametrize("words", ["{}", "I think {}", "bird, {}"])
def test_column_naming_candidates_is_a_feature_only_if_not_those_of_its_row(words: str) -> None:
    own = [words.format(SETS[k % 6][-1].upper()) for k in range(12)]
    for cells, learnt in ((own, ()), (own[1:] + own[:1], ("group",))):
        roles = suggest_roles(read_cells(csv(text=TEXTS, labels=LISTS, group=cells)))
        assert (roles.candidates, roles.truth, roles.categories) == ("labels", None, learnt)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_unasked_label_is_label_in_any_column_position(place: int) -> None:
    columns = {"dog": ["", "x", "", "x"], "cat": ["x", "?", "x", ""]}
    names = list(columns)
    names.insert(place, "owl")
    roles = suggest_roles(
        read_cells(csv(**{name: columns.get(name, ["?", "", "n/a", "?"]) for name in names}, text=TEXTS[:4]))
    )
    assert roles.label_columns == tuple(names)


def test_number_of_labels_in_a_row_is_not_learned_from() -> None:
    columns = {"dog": ["0", "1", "0", "1"], "cat": ["1", "1", "1", "0"], "fox": ["1", "1", "0", "0"]}
    others = {"total": ["2", "3", "1", "1"], "weight": ["2", "3", "1", "2"]}
    roles = suggest_roles(read_cells(csv(text=TEXTS[:4], **columns, **others)))
    assert (roles.label_columns, roles.numbers) == (tuple(columns), ("weight",))


def test_numbered_words_next_to_choices_are_features_unless_they_rename_them() -> None:
    """Habitats differ from the guesses next to them; codes do not."""
    first, second = [SETS[k % 6][0] for k in range(12)], ["cat", "dog"] * 6
    guesses = {"guess_1": first, "score_1": ["0.6", "0.5"] * 6, "guess_2": second, "score_2": ["0.2", "0.3"] * 6}
    codes = {f"code_{place}": [name.upper() for name in guesses[f"guess_{place}"]] for place in (1, 2)}
    habitats = {"habitat_1": ["wood"] * 5 + ["lake"] * 7, "habitat_2": ["lake"] * 8 + ["field"] * 4}
    roles = suggest_roles(read_cells(csv(text=TEXTS, **guesses, **codes, **habitats)))
    assert (roles.choices, roles.categories) == (("guess_1", "guess_2"), ("habitat_1", "habitat_2"))


@pytest.mark.parametrize("column", ABOUT_ANSWERS)
def test_text_about_the_answer_is_not_the_item(column: str) -> None:
    said = [f"it has four legs and says meow and so step by step I hold it for a {name}" for name in LISTS]
    roles = suggest_roles(read_cells(csv(text=TEXTS, labels=LISTS, **{column: said})))
    assert (roles.text, roles.categories) == ("text", ())


@pytest.mark.parametrize("mark", [*FOUND, " "])
def test_separator_of_labels_is_found_or_stops_the_import(mark: str) -> None:
    lists = [mark.join(SETS[k % 6]) for k in range(12)]
    cells = read_cells(csv(text=TEXTS, labels=lists))
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    stops = {doubt.name for doubt in find_doubts(table) if doubt.stops}
    assert (table.classes == ("cat", "dog", "owl"), stops) == (
        (True, set()) if mark in FOUND else (False, {"mixed-separators"})
    )
