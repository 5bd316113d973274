"""Columns that models may not learn from: facts about run, file and worker, and what gives the label away; and the
texts that people need to see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from plcore.tables.roles.roles import Roles, label_in_name
from plcore.tables.roles.sample import CAMEL, PROSE, TEXT_NAMES, ColumnSample, key_of, numbered_alike
from plcore.tables.roles.written_lists import is_code, labels_of_cell

WHO_ABROAD = (
    "bearbeiter(?:_?in)?|annotator_?in|pr(?:ü|ue)fer(?:_?in)?|gutachter(?:_?in)?|kodierer(?:_?in)?|beurteiler(?:_?in)?|bewerter(?:_?in)?"
    "|(?:be)?nutzer(?:_?in|name)?|annotat(?:eur|rice)|évaluat(?:eur|rice)|relect(?:eur|rice)|utilisat(?:eur|rice)"
    "|anotador[ae]?|evaluador[ae]?|revisor[ae]?|codificador[ae]?|usuario|avaliador[ae]?|usuário|annotatore|valutatore"
    "|(?:标注|標註|标记|审核|审阅|评估|评审|注释|注釋|操作)(?:者|员|員|人)|用户(?:名)?"
    "|annoteur|étiqueteur|codeur|beoordelaar|codeerder|a[dn]?notator(?:ka)?|oceniając[ya]|kodare|annotat(?:ö|ø)r|bed(?:ö|ø)mm?are?"
    "|anotátor|hodnotitel|etiketleyen|değerlendiren"
    "|アノテ[ーエ]ター|(?:作業|評価|注釈|担当|回答)者|ユーザー名?|(?:작업|평가|검수|주석|응답)자|라벨러|аннотатор|разметчик|эксперт|оценщик"
)
"""Column names for the worker in German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Danish, Czech,
Turkish, Chinese, Japanese, Korean and Russian."""
_WHO = (
    f"{WHO_ABROAD}|annotator|annotation|worker|participant|rater|coder|labell?er|reader|radiologist|pathologist|grader|judge|user"
    "|turker|respondent|subject|assignment"
    "|hit|task|session|submission|prolific"
)
_LABELER = "annotator|worker|rater|coder|labell?er|grader|judge|turker|respondent|participant|contributor"
_COUNTED = "vote|annotator|annotation|rater|rating|worker|label|candidate|class(?:e)?|judgment"
_WHEN = "created|updated|modified|completed|submitted|started|finished|accepted|answered|labelled|labeled"
_DONE = "(?:annotated|classified|label+ed|verified|reviewed|checked)"
_UNIT = (
    "(?:_?(?:ms|s|secs?|seconds|mins?|minutes|h|hrs?|hours?|ns|us|millis(?:econds)?"
    "|se[kg]|segundos|secondes|sekunden|secondi|seconden|sekund))?"
)
_ALWAYS = re.compile(
    "|".join(
        (
            rf"(?:{_WHO}|prediction|completion|run|job|batch|request|response|result|project|model)s?_?\d*_?(?:ids?|pid)",
            rf"(?:{_WHO}|prolific_p?id|rad_?id)",
            rf"(?:\w+_)?(?:timestamp|datetime)|(?:{_WHEN})(?:_?(?:at|on|time|date))?|\w+_at|\w+_ts",
            r"(?:submit|accept|creation|completion|upload|request|response|reaction|work|lead|approval)"
            rf"_?time{_UNIT}|(?:work)?_?time_?(?:spent|taken|in|on_task){_UNIT}",
            rf"(?:\w+_)?(?:latency|elapsed(?:_?time)?|runtime|unix_?time){_UNIT}|rt{_UNIT}|seconds_spent|work_?time_?in_?seconds|(?:task|answer|response)_duration{_UNIT}",
            rf"(?:temps|tiempo|tempo)_(?:de_|di_)?(?:r[eé]ponse|respuesta|resposta|risposta|traitement|trabajo){_UNIT}"
            rf"|(?:reactie|antwoord|reaktions|antwort|svars)_?(?:tijd|zeit|tid){_UNIT}",
            rf"(?:crowd|{_LABELER}|annotation|labell?ing)_?(?:platform|vendor)",
            r"finish_reason|system_fingerprint|prompt_(?:version|hash|name)|status_code|http_status",
            rf"(?:{_WHO})_?(?:age|country|gender|sex|name|skill|score|status|approval|rate|reward|language|browser|device)",
            rf"(?:{_LABELER})s?_?(?:no|nr|num|number|trust|quality|experience|reliability|accuracy|expertise|level|reputation)"
            rf"|(?:age|gender|sex|country|experience|trust|quality|accuracy)_of_(?:the_)?(?:{_LABELER})s?",
            r"(?:fleiss|cohens?)_?kappa|krippendorffs?(?:_?alpha)?|(?:majority|consensus|agreement|vote)_?(?:share|rate|ratio|fraction|level)"
            r"|inter_?(?:annotator|rater)_?agreement|(?:attention|quality|sanity)_?checks?(?:_?(?:passed|failed))?|test_?question",
            r"key_?(?:strokes|presses)|mouse_?(?:moves|clicks|distance)|scroll_?depth|(?:n|num)_?(?:skips|clicks|edits|undos|revisions|attempts)",
            r"random_?(?:seed|state)|(?:session|trial|batch)_?(?:no|nr|number|index)|(?:tele)?phone_?(?:no|nr|number)",
            r"(?:data_?)?split|train_?(?:val_?)?test(?:_?split)?",
            rf"(?:\w+_)?(?:human|machine|user|ai|auto)_?{_DONE}|{_DONE}_?by(?:_?\w+)?",
            r"is_(?:train(?:ing)?|test|val(?:idation)?|gold(?:en)?|control|correct|attention_check)|(?:\w+_)?is_(?:verified|reviewed|checked)",
            r"how_(?:sure|certain|confident)\w*",
            r"(?:sample|sampling|instance|survey|design|class|post_?stratification)_?weights?",
            r"(?:labell?ing_|annotation_|label_)?method_?label|(?:label|annotation)_(?:method|source)",
            r"trusted_judgments|kappa|(?:\w+_)?ip(?:_address)?",
            rf"bearbeitungs(?:zeit|dauer){_UNIT}|zeitstempel|(?:erstellt|geändert|bearbeitet|angelegt|abgeschickt)_(?:am|um|von)",
            rf"horodatage|temps_passé{_UNIT}|(?:créé|modifié|annoté)_(?:le|par)|marca_(?:de_tiempo|temporal|de_tempo)"
            r"|(?:fecha|hora)_de_(?:creación|envío|respuesta)|(?:creado|actualizado|anotado)_(?:en|el|por)"
            r"|data_de_(?:criação|envio)|marca_temporale|data_di_creazione",
            r"耗时|用时|时间戳|(?:标注|提交|创建|更新|完成|修改|审核|开始|结束)(?:时间|日期|时长|者|人)",
            r"タイムスタンプ|(?:作業|所要|回答|作成|更新|送信)(?:時間|日時|日)|(?:소요|작업|응답|생성|제출|완료)_?(?:시간|일시|일)|время_(?:ответа|создания|разметки)",
            r"(?:image|img|picture|photo|meta(?:data)?)_(?:width|height|depth|size|channels)",
            r"approval_?rate|lifetime\w*rate\w*|_?trust|delete_?flag|file_?size\w*|md5|sha1|sha256|checksum|root_?folder",
        )
    )
)
_AMOUNT = re.compile(
    r"(?:\w+_)?(?:reward|costs?|kosten|co[uû]ts?|costes?|costos?|custos?|payment|pay|wage|bonus|credits|price_per_(?:call|request|token|1k\w*))(?:_(?:usd|eur|cents|total))?"
    r"|(?:\w+_)?(?:usd|eur|gbp|euros?|dollars?|cents?|amount|money)_(?:spent|paid|cost)"
    rf"|(?:\w+_)?(?:token|jetons?)(?:_(?:count|in|out|used|total))?|(?:\w+_)?latency{_UNIT}|attempts?|retries|retry"
)
"""Amounts of money, tokens, seconds or tries."""
_SOMETIMES = re.compile(
    rf"(?:start_?|end_?)?time{_UNIT}|ts|\w+_duration{_UNIT}|channel|offset|folder|files|relative_?path|hash|run|batch"
    r"|(?:model|llm)(?:_(?:name|version|used))?|(?:model|llm)_?(?:[a-z]|\d{1,2})(?:_name)?|provider|anbieter|fournisseur|proveedor|fornitore|fornecedor|seed|top_p|temperature_setting|cached|status|confidence|certainty|prob|probability|agreement|(?:pred|prediction|predicted|model|label|annotation|top)_?(?:score|conf|confidence|prob|probability)|\w+_status|index"
    rf"|(?:mean|avg|average|median|mode|std|sd|var|min|max|sum|total)_?(?:\w+_)?(?:{_COUNTED}|score|prob|probability|conf|confidence)s?"
    rf"|(?:n|num|number_of)_?(?:{_COUNTED})s|(?:{_COUNTED})s?_?counts?"
    r"|fold|partition|subset|version|line(?:_?(?:no|nr|number))?|row_?number|seq|batch_(?:no|nr|number)"
    r"|\w+_hash|entropy|perplexity|loss|margin|uncertainty|difficulty_score"
    r"|\w+_(?:confidence|conf|certainty)|(?:confidence|certainty)_?\d+"
    rf"|(?:time|duration|dauer|durée|duración|duração|durata|длительность|время|时长|時間|tijd|tiempo|czas|tid|süre){_UNIT}(?:_?\d+)?|sicherheit|konfidenz|confiance"
    r"|confianza|confiança|confidenza|置信度|信心|確信度|信頼度|신뢰도|확신도|уверенность|zekerheid|seguridad|pewność|säkerhet|sikkerhed|jistota|emin_?lik"
    r"|reviewer|assignees?|assigned_to|owner|collaborators?|\w+_by|e_?mail(?:_address)?|user_?login"
)
_NEVER_LABELS = re.compile(
    rf"(?:{_WHO}|user|reviewer|channel|link)s|(?!(?:label|class|category|tag|topic|species|intent)s?_)(?:\w+_)?(?:ids|files|urls|paths|images|photos)"
)
_RULED_OUT = re.compile(
    r"(?:rejected|excluded|impossible|eliminated|discarded|removed|dropped|skipped|absent|ruled_?out|hard_negative)(?:_\w+)?"
    r"|(?:not|never|cannot|cant|isnt|is_not|cannot_be)_(?:present|possible|seen|applicable|plausible|likely|fitting|valid|true|right|correct)"
    r"|impossible|implausible|unlikely|improbable|exclusions?|excludes?|refuted|contradicted|incompatible"
    r"|ausgeschlossen\w*|exclue?s|descartad[ao]s|excluíd[ao]s|esclus[ei]|uitgesloten|wykluczone|исключ[её]нные"
    r"|(?:hard_)?negatives|distractors|foils|(?:old|previous|prior|former)_labels"
    r"|(?:not|non|no|wrong|incorrect|negative|complementary)_(?:labels?|class(?:es)?|candidates?|answers?|options?|species)"
)
"""Columns of labels that are not right."""
_NO_LISTS = re.compile(
    r"viewers|editors|approvers|team|cc|runs|steps|logs?|dates|hours|weekdays|months|years"
    r"|neighbou?rs|nearest(?:_\w+)?|retrieved(?:_\w+)?|similar(?:_\w+)?|references|citations|\w+_used|providers"
    r"|engines|permissions|formats|extensions|mime_types|sensors|cameras|stations|deployments|batches|folds|splits|subsets"
    r"|prompts|templates|demos|shots|few_shot_\w+|augmentations|transforms|context"
    r"|authors?|cast|crew|actors|directors?|entities|mentions|attachments|recipients|participants|history|messages|turns"
    r"|bbox(?:es)?|box(?:es)?|coordinates|polygons?|segmentation|spans?|offsets?|keypoints"
    r"|tokens|words|lemmas|(?:ner|pos|chunk|bio|iob)_?tags?|(?:input|token)_ids|attention_mask"
    r"|place(?:_\w+)?|locations?|locality|address(?:es)?|assignees?|watchers|keywords_\w+"
)
_NO_FEATURES = re.compile(
    r"scores|probs|probabilities|logits|logprobs|\w+_dist(?:ribution)?|soft_labels?|(?:user|subject|meta)_?(?:data|ip)"
    r"|authors|cast|crew|actors|directors|entities|mentions|attachments|recipients|consent(?:_given)?|opt(?:ed)?_?in"
    r"|sheet(?:_?name)?|source_?file|(?:\w+_)?(?:in)?correct(?:ness)?|is_(?:error|wrong|right)"
    r"|unnamed_\d+(?:_\d+)*|level_0|(?:patient|subject|case|sample|specimen|animal|plot|station)_?(?:no|nr|num|number)"
    r"|(?:raters_|coders_|annotators_|all_)?(?:dis)?agree[sd]?|disputed|unanimous|adjudicated|tied?|(?:is_)?(?:ambiguous|ambiguity|multi_?label(?:l?ed)?)"
)
_RARELY = re.compile(
    r"l_\d+|trial|block|session|revisions?|edits|epoch|idx|row(?:_?(?:idx|index))?|(?:sort|display|presentation)_?order"
    r"|votes|scores?(?:_\w+)?|logit|log_?prob(?:ability)?|sure|trust|(?:confidence|certainty|trust|quality)_(?:score|rating|level)"
    r"|perceived_(?:difficulty|ease)|(?:is_)?(?:approved|flagged|deleted|skipped|duplicate)|reviewed|checked|phone|(?:needs?|to|for)_(?:review|check)|escalated"
    r"|(?:über)?geprüft|revisado|revisto|vérifiée?|verifi[ck]ad?o|verificato|gecontroleerd|sprawdzon[eay]|проверено|已审核"
    r"|tps|tokens_per_s(?:ec(?:ond)?)?|throughput"
    rf"|tagger|curator|observers?|transcriber|moderator|expert(?:_name)?|(?:{_LABELER})s?_(?:group|type|team|pool|role)"
    r"|(?:(?:annotation|labell?ing)_)?(?:tool(?:_name)?|round|pass)|batch_name|prompt_(?:id|template)|hit_type"
    r"|licen[cs]e|rights|copyright|url|link|href|file(?:_?name)?|path|(?:mime|media)_?type|(?:file_)?(?:format|extension)"
    r"|comments?|(?:\w+_?)?(?:remarks?|qualifier)|feedback|reasons?|notes|flags?|\w+_complete"
)
"""Columns that rarely describe the item; their cells, or the columns themselves, may be labels."""
_of_run = re.compile(
    r"(?:^|_)(?:"
    r"tokens|toks|tok|ttft|latency|retries|retry|keystroke|keystrokes|rlhf|shap|iptw|redcap"
    r")\d*(?:_|$)"
).search
"""Finds a word for facts about a run, a worker or a form in a key, whatever the table is about."""
_of_process = re.compile(
    r"(?:^|_)(?:"
    r"ms|ns|secs|seconds|time|timestamp|cpu|gpu|wall|processing|cache|cached|api|eval|evaluation|reward"
    r"|bonus|credits|payout|wage|inference|elapsed|runtime|token|mouse|hover|elo|judge|grader|propensity|kappa"
    r"|click|clicks|clicked|ctr|impressions|scroll|paste|blur|edit|edits|session|sessions"
    r"|workstation|bm25|tfidf|retrieval|rerank|similarity|sim|cosine|rank|ranking|lat|lon|lng|latitude|longitude"
    r"|easting|northing|utm|gps|label|labels|vote|votes|annotation|annotations|annotator|annotators|rater|raters"
    r"|coder|coders|worker|workers|agree|agreement|consensus|winner|iaa|alpha|outlier|ood|duplicate|aum|loss"
    r"|margin|entropy|uncertainty|gini|acquisition|sampling|influence|leverage|importance|variability|forgetting"
    r"|correctness|rouge|bleu|f1|em|exact|accuracy|acc|perplexity|ppl|nll|logprob|logprobs|wt|wgt|pweight|ips"
    r"|stratum|holdout|kfold|subset|honeypot|tutorial|quiz|qualification|certified|attention|passed|skipped"
    r"|pielou|evenness|qc|checksum|md5|hit|mrr|ndcg|recall|validated|approved|accepted|reviewed|assigned|escalation|sla|deadline|workflow|feedback|viewport|timezone"
    r"|tz|mtime|ctime|etag|hash|simhash|minhash|commit|git|crc|sha|upload|uploaded|ingest|ingested|crawl|crawled"
    r"|scrape|scraped|fetched|retrieved|created|modified|seen|bytes|kb|mb|fps|dpi|wpm"
    r")\d*(?:_|$)"
).search
"""Finds a word in a key for how an item was found, stored, processed, judged or labelled."""
_PLACES = re.compile(
    "|".join(
        (
            r"(?:\w+_)?(?:no|nr|idx|index|position|order|utc|epoch(?:_time)?|serial|s_?no|row_?no|line_?no)(?:_\d+)?|serial_\w+|(?:row|rec|question|item)_?num(?:ber)?",
            r"|num|number|nummer|numéro|número|order|ord|rank|pos|position|qn|case|slide|page|chapter|paragraph|sentence"
            r"|doc|document|article|frame|scan|record|entry|item|sample|volume|roll|lot|draw|take|step|iter(?:ation)?"
            r"|replica(?:te)?|rep|repeat|phase|wave|gen(?:eration)?|build|pin|deployment|retry",
            r"(?:bit|frame|sampl(?:e|ing))_?rate|sr|n_?(?:frames|channels|samples)",
            rf"(?:reading|think(?:ing)?|decision|dwell|viewing|typing|dur(?:ation)?){_UNIT}",
            r"(?:\w+_)?(?:n?ann(?:ot)?|judge?ments?|voters?|log_?prob|gap)(?:_\w+)?|\w+_v\d+_(?:score|mean|p90|variance)",
            r"(?:\w+_)?(?:conf|prob|probability|confidence|certainty)_?\d*(?:_\w+)?|score_?\d+"
            r"|(?:det(?:ection|ector)?|top_?\d*|max|min|gold)_?score",
            r"ipw|top_k|beam(?:_\w+)?",
            r"(?:observation|individual|animal|group)?_?count|number_of_(?:objects|animals|individuals)|group_size",
            r"(?:\w+_)?version|(?:device|user|worker|item|record|doc|image|file|row)id",
            r"zip|(?:zip|post(?:al)?)_?code|plz|isbn|issn|doi|pmid|ean|upc",
            r"(?:\w+_)?(?:start|end|begin|onset|offset)(?:_(?:char|time|pos|index|token|word|line|byte|frame|ms|s|secs?|start|end))?",
            r"|(?:from|to)_(?:ms|s|secs?)|stop|bbox(?:_\w+)?|[xy]_?(?:min|max|[0-9])",
        )
    )
)
_LANGUAGES = "de|en|es|fr|it|pt|german|english|spanish|french|italian|portuguese"
says_label_again = re.compile(
    rf"(?:label|target|class|truth|gold|answer|correct|choice|option)(?:_(?:option|answer|label|class|choice))?_?(?:code|id|ids|int|idx|index|enc(?:oded)?|num|number|names?|str|text|description|desc|{_LANGUAGES})"
    r"|(?:\w+_)?(?:target|label|class|y)_enc(?:oded|oding)?"
    r"|(?:super|parent)_?(?:class|label|category)"
).fullmatch
"""Whether a column with this key holds the label in other words: its code, its description, its class above."""
AS_GIVEN = {"given_label", "observed_label"}
"""Names of labels in which tools look for errors: not true labels, and no features."""
is_from_votes = re.compile(
    r"(?:majority|maj|consensus|aggregated?|ensemble|plurality)(?:_?(?:vote|label|class|answer|opinion))?"
    r"|(?:hard|soft)_label|(?:label|vote|class|answer)_?(?:majority|consensus|aggregated|ensemble)"
).fullmatch
"""Whether a column with this key holds a result computed from votes: neither a vote nor a true label."""
is_from_model = re.compile(
    r"(?:gpt|chatgpt|claude|llama|gemini|mistral|mixtral|deepseek|qwen|llm)[\d_]*\w*"
    r"|(?:\w+_)?(?:predicted|prediction|pred)(?:_?(?:label|class))?"
    r"|(?:\w+_)?(?:(?:ro|distil|de|sci|bio|fin)?berta?|svm|knn|xgboost|rule_based|resnet\d*|naive_bayes|random_forest)"
    r"|(?:best|first|top|current|initial)_?(?:guess|label|class|choice|candidate|pick|suggestion)"
    r"|lfs?_\w+|old|(?:old|previous|prior|weak|noisy|silver|suggested|auto|model)_?label|label_(?:old|previous|weak|noisy)"
).fullmatch
"""Whether a column with this key holds a model's answer or an earlier label: not a true label."""
_REMARK = (
    "kommentare?|bemerkung(?:en)?|anmerkung(?:en)?|notiz(?:en)?|begründung(?:en)?|commentaires?|remarques?|comentarios?"
    "|observacion(?:es)?|observaç(?:ão|ões)|comentários?|commenti?|osservazioni?|opmerking(?:en)?|uwagi?|komentarz"
    "|комментари[ий]|примечани[ея]|备注|备註|備考|コメント|메모|비고"
)
is_remark = re.compile(
    r"remarks?|bemerkung(?:en)?|anmerkung(?:en)?|remarques?|opmerking(?:en)?|примечани[ея]|备注"
).fullmatch
"""Whether a column with this key is next to another text a remark about it, and not the item."""
is_about_answer = re.compile(
    r"(?:\w+_)?(?:reasoning|rationales?|explanations?|justifications?|chain_of_thought|cot|thoughts?|thinking)"
    r"|(?:\w+_)?(?:prompt|system_prompt|completion)|(?:raw|model|llm|full)_?(?:response|output|answer|reply)|instructions?"
    rf"|(?:{_WHO}|reviewer)s?_?(?:\w+_)?\d*_?(?:comment|note|feedback|remark)s?(?:_\d+)?"
    rf"|(?:comment|note|feedback|remark)s?_(?:of|by|from)_(?:\w+_)?(?:{_WHO}|reviewer)s?"
    rf"|(?:{_REMARK})_(?:\w+_)?(?:{_WHO})s?|(?:{_WHO})s?_(?:\w+_)?(?:{_REMARK})"
).fullmatch
"""Whether a text in a column with this key comments on an answer or asks for one, so that it may name the label."""
_NOT_OF_ITEM = re.compile(
    r"why|notes?|comments?|(?:\w+_)?(?:translat(?:ed|ions?)(?:_\w+)?|en|english|address|location|authors?)"
).fullmatch
"""Whether a text in a column with this key may explain the label, repeat another text of the row, or be a fact."""
_DAYS = ((20_000, 80_000), (5e8, 5e9), (5e11, 5e12), (19000101, 21001231))
"""Ranges of dates as numbers: of spreadsheets, in seconds and in milliseconds since 1970, and written in digits."""
_DATE_NAME = re.compile(r"(^|_)(date|day|datum|tag|fecha|jour|giorno|日期|日付|дата)(_|$)")
_SPLITS = {"train", "training", "dev", "val", "valid", "validation", "test", "testing", "eval", "holdout", "unlabeled"}
"""Parts of a data set, in lower case, whatever their column is called."""
_ABOUT_WORKER = {
    "age", "gender", "sex", "country", "nationality", "language", "status", "education", "native", "ethnicity",
    "country_of_residence", "country_of_birth", "student_status", "employment_status", "fluent_languages",
    "confidence", "certainty",
}  # fmt: skip
_WORKER = re.compile(rf"(?:{_WHO})(?:_?p?id)?|rad_?id|p?id_(?:{_WHO})")
_GIVEN_BY = re.compile(
    r"(?:(?:label|class|answer|annotation|truth|target)_?)?(?:source|origin|provenance|method|agent|author|by)"
    rf"|{_DONE}_?by|(?:created|assigned|generated|predicted|given|made|set)_?by"
    rf"|(?:{_LABELER})(?:_?(?:id|name|type|kind))?|model(?:_?(?:id|name|version))?"
)
"""Columns that may say who or what gave the label of a row."""
_OF_MODEL = re.compile(
    r"(?:\w+_)?(?:model|machine|ai|auto|automatic(?:ally)?|automated|algorithm|classifier|predict(?:ed|ions?|or)?|detector"
    r"|llm|pseudo|inferred|imputed|weak|silver|heuristics?|necessary)(?:_(?:model|label(?:l?ed)?|\w{0,3}\d\w*))?"
    r"|(?:openai_|anthropic_|google_|meta_)?(?:gpt|chatgpt|claude|llama|gemini|gemma|mistral|mixtral|deepseek|qwen|yolo"
    r"|resnet|efficientnet|mobilenet|densenet|bert|roberta|distilbert|deberta|birdnet|megadetector|speciesnet|whisper"
    r"|snorkel|cleanlab|xgboost|svm)(?:_?v?\d+\w*)?(?:_\w+)?|(?:phi|grok|vit|vgg|clip|perch|inception)_?v?\d\w*"
)
"""Keys of cells that name a program; `necessary` as earlier versions of Winnow wrote it."""
_ALSO_PERSON = re.compile(r"(?:claude|bert|gemma)(?:_(?!(?:base|large|model|opus|sonnet|haiku|instant)\b)[a-z]+)*")
"""Models that are called like people: `claude_monet`, but not `claude_3`."""
_MOST_GIVERS = 1_000
"""Maximum number of people and models that a column names."""
is_reference = re.compile(
    r"(?:reference|ref|adjudicat(?:ed|ion|or)|final|arbiter|tie_?breaker|biopsy|histo(?:logy|pathology)|outcome)"
    r"(?:_(?:label|class|answer|diagnosis|standard|grade|reading|read|finding|vote|decision|result|response))?"
).fullmatch
"""Whether a column with this key holds an expert's decision after the votes: a true label."""
_AROUND = re.compile(r"^(?:answer|assignment|input|meta|metadata|usage|info)_+")
_JSON = re.compile(r"[\[{].*[\]}]", re.DOTALL)
_OPTION_TEXT = re.compile(r"_(?:\w+_)?(?:text|other|specify|specified|free_?text)")
_FIRST_ROWS = 10_000
"""Number of rows in which codes are compared with labels."""
_SOME_ROWS, _MOST_LABELS = 300, 200
"""Maximum numbers of rows, and of labels, that are looked for in other columns."""
_SEVERAL = 5
"""Minimum number of cells that name a label, to be evidence."""
_FEWEST_CODED = 3
"""Number of lists up to which numbers may go with them by chance."""
_FEWEST_EACH = 3
"""Minimum number of rows in which votes agree, and in which they differ, to be evidence."""


def is_fact(key: str) -> bool:
    """Whether a column with this key describes the run, the file or the worker, whatever the table is about.

    key : as `ColumnSample.key`, words joined by underscores
    """
    if _of_run(key) is not None:
        return True
    names = (key, _AROUND.sub("", key))
    return any(kind.fullmatch(one) is not None for one in names for kind in (_AMOUNT, _ALWAYS))


def is_flag(key: str) -> bool:
    """Whether a column with this key is a fact that is yes or no, and no amount of money, tokens, seconds or tries."""
    amount = _AMOUNT.fullmatch(key) is not None or re.search(r"(?:^|_)(?:ids?|token|retry|latency)$", key) is not None
    return is_fact(key) and not amount


def may_be_fact(key: str) -> bool:
    """Whether a column with this key is likely a fact: names such as duration or model describe the item only in tables
    of measurements."""
    return is_fact(key) or _SOMETIMES.fullmatch(_AROUND.sub("", key)) is not None


def never_labels(key: str) -> bool:
    """Whether a column with this key never holds labels, whatever its cells look like: lists of files or people."""
    return may_be_fact(key) or _NEVER_LABELS.fullmatch(key) is not None


def rarely_learnt(key: str) -> bool:
    """Whether a column with this key describes the item only in tables without text, images, recordings or vectors."""
    return never_labels(key) or _RARELY.fullmatch(key) is not None


def no_list(key: str) -> bool:
    """Whether a column with this key lists something other than labels that may be right: people, words, boxes, parts
    of an address, labels that are ruled out."""
    return never_labels(key) or any(one.fullmatch(key) is not None for one in (_NO_LISTS, _RULED_OUT))


def never_learnt(key: str) -> bool:
    """Whether a column with this key reveals the label, or does not describe the item: no model may learn from it."""
    facts = (is_fact, is_from_votes, is_reference, is_from_model, is_about_answer)
    if key in AS_GIVEN or any(one(key) for one in facts):
        return True
    return any(one.fullmatch(key) for one in (_NO_FEATURES, _RULED_OUT))


def names_of(column: ColumnSample) -> set[str]:
    """Return the keys by which a column may be known: `RelativePath` is relative_path, `data.correct` is correct."""
    names = (column.name, column.name.rpartition(".")[2])
    return {key_of(one) for name in names for one in (name, CAMEL.sub("_", name))}


def texts_of_items(columns: list[ColumnSample]) -> list[ColumnSample]:
    """Return the columns of text, the longest first: named for it, or of several words that rarely repeat."""
    texts = [
        column
        for column in columns
        if column.cells
        and not (column.is_numbers or column.is_objects)
        and (column.key in TEXT_NAMES or (column.words >= PROSE and not column.repeats))
    ]
    of_items = [column for column in texts if not is_about_answer(column.key)]
    plain = [column for column in of_items if not is_remark(column.key)]
    return sorted(plain or of_items or texts, key=lambda column: column.words, reverse=True)


def is_text_of_item(column: ColumnSample) -> bool:
    """Whether a column is a text that people need to see, such as a title or a premise, which may repeat: no remark,
    and nothing that reveals the label."""
    if column.is_numbers or column.is_objects:
        return False
    if column.key not in TEXT_NAMES and (column.words < PROSE or column.is_constant or column.share(_JSON)):
        return False
    return not any((never_learnt(key) and key != "prompt") or is_remark(key) for key in names_of(column))


def is_further_text(column: ColumnSample) -> bool:
    """Whether a text that is shown next to another also describes the item, so that models learn from it: no address,
    no note on the answer, and no translation of the other text."""
    if column.words < PROSE or column.is_constant or elsewhere(column):
        return False
    return not any(_NOT_OF_ITEM(key) or rarely_learnt(key) for key in names_of(column))


def elsewhere(column: ColumnSample) -> bool:
    """Whether a column says which item it is, where, when, or how it was processed or labelled. If a text, image or
    recording describes the item, no model learns from it; measurements may have such names in other tables."""
    if any(_of_process(key) is not None for key in names_of(column)):
        return True
    return column.is_numbers and _PLACES.fullmatch(column.key) is not None


def is_date_or_split(column: ColumnSample) -> bool:
    """Whether it holds dates as numbers (days as spreadsheets count them, seconds since 1970, or 20240501), or parts of
    a data set such as train and test."""
    values = column.values
    dated = _DATE_NAME.search(column.key) is not None and bool(values)
    return (dated and any(low <= min(values) <= max(values) <= high for low, high in _DAYS)) or bool(
        column.cells and all(one.lower() in _SPLITS for cell in column.cells for one in labels_of_cell(cell) or [cell])
    )


def facts_of_portals(keys: Iterable[str]) -> frozenset[str]:
    """Return the keys that hold remarks of a data portal about its own records, if another key names the portal."""
    known = frozenset(keys)
    return known & {"issue", "issues"} if known & {"gbifid", "gbif_id"} else frozenset()


def names_worker(key: str) -> bool:
    """Whether a column with this key names the worker."""
    return _WORKER.fullmatch(key) is not None or re.fullmatch(r"(?:user|login)_?(?:name|login|id)?", key) is not None


def share_by_models(name: str, column: pd.Series[str] | Sequence[str]) -> float:
    """Return the share of the different filled cells that name a model as what gave the label of its row; 0 for columns
    that do not say who or what gave it. name : of the column"""
    if _GIVEN_BY.fullmatch(key_of(name)) is None:
        return 0.0
    cells = [cell for cell in pd.Series(column, dtype="str").str.strip().unique() if cell]
    if not 0 < len(cells) <= _MOST_GIVERS:
        return 0.0
    keys = list(map(key_of, cells))
    models = [key for key in keys if _OF_MODEL.fullmatch(key) is not None]
    if "model" not in key_of(name) and all(_ALSO_PERSON.fullmatch(key) is not None for key in models):
        return 0.0
    return len(models) / len(keys)


def facts_of_workers(keys: Iterable[str]) -> frozenset[str]:
    """Return the keys that describe a person, if another key names the worker."""
    known = frozenset(keys)
    if not any(_WORKER.fullmatch(key) for key in known):
        return frozenset()
    return known & _ABOUT_WORKER


def codes_of(cells: pd.DataFrame, roles: Roles, columns: list[ColumnSample]) -> list[str]:
    """Return the columns that repeat the candidates in other words, such as their codes: one value for each of at least
    three lists, or a numbered column for each choice with one value for each of its labels."""
    if choices := roles.choices:  # description_1 next to class_1
        groups = [[one[place] for place in sorted(one)] for one in numbered_alike(columns) if len(one) == len(choices)]
        said = cells.iloc[:_FIRST_ROWS]
        return [
            column.name
            for group in groups
            if all(_renames(said[choice], said[column.name]) for choice, column in zip(choices, group, strict=True))
            for column in group
        ]
    if roles.candidates is None:
        return []
    lists = cells[roles.candidates].iloc[:_FIRST_ROWS].str.strip()
    n_lists = lists.nunique()
    if not 2 < n_lists <= len(lists) / 2:
        return []
    found = []
    for column in (one for one in columns if n_lists > _FEWEST_CODED or not one.is_numbers):
        own = cells[column.name].iloc[:_FIRST_ROWS].str.strip()
        if own.nunique() == n_lists == len(set(zip(lists, own, strict=True))):
            found.append(column.name)
    return found


def _renames(one: pd.Series[str], other: pd.Series[str]) -> bool:
    """Whether each value of a column stands next to one value of the other, and the reverse."""
    return one.nunique() == other.nunique() == len(set(zip(one, other, strict=True)))


def of_people(annotators: Sequence[str], others: Iterable[str]) -> list[str]:
    """Return the columns about how at least two annotators answered (ann_time and bob_time, next to ann_label), and
    what one wrote about an answer (ann_comment)."""
    words = [set(key_of(name).split("_")) for name in annotators]
    common = set.intersection(*words) if words else set()
    people = {word for one in words for word in one - common}
    found: dict[str, list[tuple[str, str]]] = {}
    for name in others:
        own = key_of(name).split("_")
        for word in people.intersection(own):
            if len(own) > 1 and (not word.isdecimal() or common.intersection(own)):
                found.setdefault(" ".join(one for one in own if one != word), []).append((word, name))
    return [
        name
        for what, told in found.items()
        if len({word for word, _ in told}) > 1 or is_about_answer(f"annotator_{what}")
        for _, name in told
    ]


def naming_winners(cells: pd.DataFrame, roles: Roles, columns: Iterable[ColumnSample]) -> list[str]:
    """Return the columns that name the label with most votes, or the highest score, in every row with one: they are
    computed from these, and no true labels, unless they are called like an expert's decision."""
    names = roles.score_columns or roles.annotators
    if len(names) < 2 + bool(roles.annotators):
        return []
    rows = cells[[*names]].iloc[:_SOME_ROWS].apply(lambda one: one.str.strip()).to_numpy().tolist()
    if roles.annotators:
        votes = [Counter(filter(None, row)).most_common(2) for row in rows]
        won = [one[0][0] if one and (len(one) == 1 or one[0][1] > one[1][1]) else "" for one in votes]
    else:
        labels = [label_in_name(name, roles.score_prefix) for name in names]
        numbers = pd.DataFrame(rows).apply(pd.to_numeric, errors="coerce").fillna(0).to_numpy()
        tied = (numbers == numbers.max(axis=1, keepdims=True)).sum(axis=1) > 1
        won = ["" if tie else labels[place] for place, tie in zip(numbers.argmax(axis=1), tied, strict=True)]
    found = []
    for column in (one for one in columns if not is_reference(one.key)):
        said = column.whole.slice(0, _SOME_ROWS).to_pylist()
        same = [cell.strip() == one for cell, one in zip(said, won, strict=True) if one]
        if len(same) >= _SEVERAL and all(same):
            found.append(column.name)
    return found


def agreement_columns(cells: pd.DataFrame, annotators: Sequence[str], columns: Iterable[ColumnSample]) -> list[str]:
    """Return the columns with a few values, each of which goes either with rows in which all votes agree, or with rows
    in which they differ: they say how well people agreed, in any language."""
    if len(annotators) < 2:
        return []
    rows = cells[[*annotators]].iloc[:_SOME_ROWS].apply(lambda one: one.str.strip()).to_numpy().tolist()
    agreed = [len(set(filter(None, row))) < 2 for row in rows]
    votes = {cell for row in rows for cell in row}
    if min(sum(agreed), len(agreed) - sum(agreed)) < _FEWEST_EACH:
        return []
    found = []
    for column in columns:
        said = list(zip((cell.strip() for cell in column.whole.slice(0, _SOME_ROWS).to_pylist()), agreed, strict=True))
        values = {cell for cell, _ in said}
        if ("", True) in said and len(values - {""}) > 1 and values - {""} <= votes:
            continue  # what was decided on the rows in which votes differ
        if 1 < len(values) == len(set(said)) <= len(said) / _FEWEST_EACH:
            found.append(column.name)
    return found


def is_option_text(key: str, questions: Iterable[str]) -> bool:
    """Whether a column holds what people wrote next to an option such as "other": Q1_4_TEXT next to Q1. questions : the
    keys of the columns with labels"""
    return any(_OPTION_TEXT.fullmatch(key.removeprefix(one)) for one in questions if key.startswith(one))


def naming_labels(cells: pd.DataFrame, roles: Roles, known: Iterable[str], columns: list[ColumnSample]) -> list[str]:
    """Return the columns whose cells name one of the row's own candidates, in any case and with other words around it,
    more often than chance would: `CAT`, `I think cat`; or list labels, as programs write them: `["cat"]`.
    """
    labels = {label.casefold() for label in known if len(label) > 1}
    lists = (roles.candidates,) if roles.candidates is not None else (*roles.annotators, *roles.choices)
    if not lists or not 2 < len(labels) <= _MOST_LABELS:
        return []
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(labels, key=len, reverse=True))) + r")(?!\w)")
    some = cells.iloc[:_SOME_ROWS]
    own = [set(pattern.findall(" | ".join(row).casefold())) for row in some[[*lists]].to_numpy()]
    found = []
    for column in (one for one in columns if not one.is_numbers):
        said = some[column.name].str.casefold()
        named = [(row, words) for row, cell in zip(own, said, strict=True) if (words := pattern.findall(cell))]
        right = sum(row.issuperset(words) for row, words in named)
        by_chance = sum(len(row) for row, _ in named) / len(labels)
        codes = [labels_of_cell(cell.casefold()) for cell in column.cells[:_SOME_ROWS] if is_code(cell)]
        if len(codes) >= 0.9 * min(len(column.cells), _SOME_ROWS) > 0 and all(map(labels.issuperset, codes)):
            found.append(column.name)
            continue
        if len(named) >= _SEVERAL and right >= 0.95 * len(named) and by_chance < 0.7 * len(named):
            found.append(column.name)
    return found
